// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "polyhop/experiment/record.hpp"

namespace polyhop {

/// The largest network that is drawn: placing the agents takes O(agents^2).
inline constexpr Index max_agents_drawn = 1000;

struct Place {
  double x = 0;
  double y = 0;
};

/// A place for every agent, with neighbours at distance 1. If the links 0-1, 1-2, ... form a ring of at most 100
/// agents, they are on a circle; otherwise distances on paper are made close to those along links, by stochastic
/// descent on the stress sum_{k<l} (|p_k - p_l| - d_kl)^2 / d_kl^2 (Zheng, Pawar and Goodman 2018) from a seeded start.
/// The longer axis is horizontal. The same network gets the same places. Throws Error above `max_agents_drawn`.
std::vector<Place> network_layout(const NetworkPicture& picture);

/// The network as an SVG: agents coloured by their number of neighbours, with their numbers if there is room, a title,
/// and a legend below. One file, no script, no font.
std::string network_svg(const NetworkPicture& picture, const std::string& title);

}  // namespace polyhop
