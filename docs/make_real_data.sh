#!/usr/bin/env bash
# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
# Makes docs/real-data.md and docs/figures/real-data-*.svg again, from runs of the command: some minutes on two cores, most
# of them for the optimum of Fashion-MNIST. If it is stopped, it resumes from what out/real-data holds.
# usage: docs/make_real_data.sh [POLYHOP], by default build/bin/polyhop
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
polyhop=${1:-build/bin/polyhop}
out=out/real-data
mkdir -p docs/figures

"$polyhop" run examples/real-data -o "$out" --quiet >/dev/null

# experiment FOLDER: its ranking and its figures.
experiment() {
  local folder=$1 name y
  name=$(basename "$folder")
  printf '## %s\n\n```\n' "$name"
  "$polyhop" report "$folder" -o "$folder/report.html" 2>/dev/null | sed '/^Take the /,$d; /^excess risk$/,$d' | sed '${/^$/d}'
  printf '```\n\n'
  for y in excess-risk-averaged error-rate; do
    "$polyhop" report "$folder" --quiet -o "$folder/report.html" --y $y --figure "docs/figures/real-data-$name-$y.svg" >/dev/null
    printf '![%s of %s](figures/real-data-%s-%s.svg)\n' "$y" "$name" "$name" "$y"
  done
  printf '\n'
}

# shown COMMAND...: a command and its output.
shown() {
  printf '$ polyhop %s\n' "$*"
  "$polyhop" "$@" 2>/dev/null
}

{
  cat <<'TEXT'
# Real data

Ten agents on an Erdos-Renyi graph fit a linear model with an L2 penalty of 0.01 to data sets that come with Debian, with `auto` and with the best
constant step. Samples are dealt evenly (`iid`), or so that agents see different classes (`dirichlet`, alpha = 0.3).
`docs/make_real_data.sh` makes this page from [examples/real-data](../examples/real-data). For `fit` on these sets, see [fit.md](fit.md).

TEXT
  printf 'Measured on this machine:\n\n```\n'
  { "$polyhop" doctor || true; } | grep -E ' (version|compiler|system|processor|cores|memory) ' | sed 's/^ok *//'
  printf '```\n\n'
  for store in "$out"/*/experiment.sqlite; do experiment "$(dirname "$store")"; done

  printf '## A model of Fashion-MNIST\n\nAll 60000 images; ten agents, in batches of 64:\n\n```\n'
  shown fit fashion-mnist --loss softmax --l2 0.01 --standardise --agents 10 --batch 64 -o "$out/fashion-mnist.npz"
  shown evaluate "$out/fashion-mnist.npz" fashion-mnist-test | sed '/^class/,$d'
  printf '```\n\n'
  /usr/bin/python3 docs/_pooled_accuracy.py 0.01
} >"$out/real-data.md"
cp "$out/real-data.md" docs/real-data.md
