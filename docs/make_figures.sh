#!/usr/bin/env bash
# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
# Makes every figure of the documents again, docs/figures/*.svg, from runs of the command: about two minutes.
# usage: docs/make_figures.sh [POLYHOP], by default build/bin/polyhop
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
polyhop=${1:-build/bin/polyhop}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# experiment NAME: runs examples/NAME.toml.
experiment() { "$polyhop" run "examples/$1.toml" -o "$work/$1" --quiet >/dev/null; }
# figure EXPERIMENT NAME ARGUMENT...: draws docs/figures/NAME.svg.
figure() {
  local from=$1 name=$2
  shift 2
  "$polyhop" report "$work/$from" --figure "docs/figures/$name.svg" --quiet --width 12 --height 7.5 "$@"
}
# methods NAME...: the flags that choose them, in the array of this name.
methods() {
  chosen=()
  local name
  for name in "$@"; do chosen+=(--method "$name"); done
}

mkdir -p docs/figures

experiment paper
figure paper paper-iterations
figure paper paper-vectors --x vectors

experiment scales
methods GAP 'GAP tight' Polyak 'constant value='{0.002,0.004,0.006,0.008}
figure scales scales "${chosen[@]}"

experiment sweeps
methods 'GAP sweeps='{1,2,5,20} 'tight sweeps='{1,2,5,20}
figure sweeps sweeps "${chosen[@]}"
methods 'GAP sweeps=2' 'GAP agree='{min,mean} 'tight sweeps=2' 'tight agree='{min,mean}
figure sweeps agree "${chosen[@]}"

experiment failure-network
figure failure-network failure-network
experiment failure-data
figure failure-data failure-data

experiment comparison
figure comparison comparison-iterations
figure comparison comparison-vectors --x vectors

experiment tutorial
figure tutorial tutorial --x vectors
