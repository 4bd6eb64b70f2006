#!/usr/bin/env bash
# Installs what is missing, builds everything and runs all tests: scripts/test.sh [ctest options]
# Needs no GPU and no CUDA toolkit; tests that need nvcc skip themselves and say so. The last line is ctest's.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

install_missing "${build_packages[@]}" libgtest-dev libgmock-dev libbenchmark-dev libmpfr-dev clang
cmake --preset release >/dev/null
cmake --build --preset release
exec ctest --test-dir build/release --output-on-failure -j "$(nproc)" "$@"
