# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
# Sourced by quickstart and check: the Debian packages that polyhop needs, and how a stage is run and reported.

build_packages=(
  g++ cmake ninja-build pkgconf
  libeigen3-dev librandom123-dev libtomlplusplus-dev libcli11-dev libfmt-dev nlohmann-json3-dev
  libfast-float-dev zlib1g-dev libsqlite3-dev libsqlitecpp-dev libzip-dev libpugixml-dev liblbfgs-dev libjs-d3
  libopenmpi-dev openmpi-bin libmetis-dev
  gnuplot-nox
  python3 python3-dev python3-numpy pybind11-dev
)
test_packages=(
  libgtest-dev librapidcheck-dev libbenchmark-dev ccache clang-14 libclang-rt-14-dev
  python3-scipy python3-networkx python3-sklearn python3-pandas python3-matplotlib dataset-fashion-mnist libopenblas0-pthread
  python3-pytest python3-hypothesis python3-nbformat mypy python3-venv python3-pip
  chromium chromium-driver python3-selenium
  fish zsh groff-base iproute2 valgrind
)
# For ./check --full: another processor.
full_packages=(g++-aarch64-linux-gnu googletest qemu-user)

# stage TEXT COMMAND...: says what is done, does it, says how long it took. A failure ends the script with its code.
stage() {
  local text=$1 begin=$SECONDS code=0
  shift
  printf '%s: %s\n' "$program" "$text"
  "$@" || code=$?
  if [ "$code" -ne 0 ]; then
    printf '%s: failed after %d s: %s\n' "$program" $((SECONDS - begin)) "$text" >&2
    exit "$code"
  fi
  printf '%s: done in %d s\n' "$program" $((SECONDS - begin))
}

# quietly LOG COMMAND...: keeps the output in a file, and shows it only when the command fails.
quietly() {
  local log=$1 code=0
  shift
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 || code=$?
  [ "$code" -eq 0 ] || cat "$log" >&2
  return "$code"
}

# The names among the arguments that dpkg does not have installed.
missing_packages() {
  local installed name
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p') || true
  for name in "$@"; do
    grep -qxF -- "$name" <<<"$installed" || printf '%s\n' "$name"
  done
}

install_packages() {
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
  "${as_root[@]}" apt-get update -qq &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

# need PACKAGE...: installs those that are missing.
need() {
  local missing
  if ! command -v dpkg-query >/dev/null; then
    printf '%s: this is not Debian, so nothing is installed; polyhop needs what these packages hold:\n  %s\n' \
      "$program" "$*" >&2
    return 0
  fi
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null || { [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; }; then
    printf '%s: packages are missing, and installing them takes apt-get as root or with sudo. As root, run\n  %s\n' \
      "$program" "apt-get install ${missing[*]}" >&2
    exit 1
  fi
  stage "installing Debian packages: ${missing[*]}" \
    quietly build/log/packages.txt install_packages "${missing[@]}"
}

# build PRESET [TARGET...]: ninja's one moving line on a terminal, only warnings and errors elsewhere.
build() {
  local preset=$1 quiet=()
  shift
  [ -t 1 ] || quiet=(-- --quiet)
  cmake --build --preset "$preset" ${1:+--target "$@"} "${quiet[@]}"
}
