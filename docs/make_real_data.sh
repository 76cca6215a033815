#!/usr/bin/env bash
# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
# Makes docs/real-data.md and docs/figures/real-data-*.svg again, from runs of the command.
# usage: docs/make_real_data.sh [POLYHOP], by default build/bin/polyhop
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
polyhop=${1:-build/bin/polyhop}
out=out/real-data
mkdir -p docs/figures

"$polyhop" run examples/real-data -o "$out" --quiet >/dev/null
{
  cat <<'TEXT'
# Real data

Ten agents on an Erdos-Renyi graph fit a linear model with an L2 penalty of 0.01 to data that Debian brings: `auto`, which is told
nothing, and the best constant step, whose search is charged. Excess risk is measured against the centralised optimum, which a
server would find that sees all samples; 0 is that optimum. Samples are dealt evenly (`iid`), or so that agents see different
classes (`dirichlet`, alpha = 0.3). Made by `docs/make_real_data.sh` from [examples/real-data](../examples/real-data); nothing is typed
by hand.

TEXT
  for store in "$out"/*/experiment.sqlite; do
    folder=$(dirname "$store")
    name=$(basename "$folder")
    printf '## %s\n\n```\n' "$name"
    "$polyhop" report "$folder" -o "$folder/report.html" 2>/dev/null | sed -n '1,/^excess risk/p' | sed '$d'
    printf '```\n\n'
    for y in excess-risk-averaged error-rate; do
      "$polyhop" report "$folder" --quiet -o "$folder/report.html" --y $y --figure "docs/figures/real-data-$name-$y.svg" >/dev/null
      printf '![%s of %s](figures/real-data-%s-%s.svg)\n' "$y" "$name" "$name" "$y"
    done
    printf '\n'
  done
} >"$out/real-data.md"
cp "$out/real-data.md" docs/real-data.md
