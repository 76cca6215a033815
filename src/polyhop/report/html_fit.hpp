// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/fit/fit.hpp"

namespace polyhop {

/// One HTML page that shows a fit: how good the model is on the samples it was fitted to and on those held out, how the
/// fit went and ended (`ending`, a sentence), the coefficients, the largest first, what was sent, all settings, and
/// provenance. Like the page of an experiment, it needs no other file and no network.
std::string html_fit(const FitOptions& options, const FitResult& result, const std::string& ending);

}  // namespace polyhop
