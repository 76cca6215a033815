#!/usr/bin/env bash
# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
# Makes docs/scoreboard.md and docs/figures/scoreboard-*.svg again, from runs of the command. If it is stopped, it resumes
# from what out/scoreboard holds.
# usage: docs/make_scoreboard.sh [POLYHOP], by default build/bin/polyhop
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
polyhop=${1:-build/bin/polyhop}

"$polyhop" run examples/scoreboard -o out/scoreboard
mkdir -p docs/figures
cp out/scoreboard/figures/scoreboard-*.svg docs/figures/
/usr/bin/python3 docs/_short_scoreboard.py <out/scoreboard/scoreboard.md >docs/scoreboard.md
