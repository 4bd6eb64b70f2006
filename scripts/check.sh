#!/usr/bin/env bash
# Installs what is missing, builds, and checks a kernel of the gallery: scripts/check.sh [FILE.cu...]
# Needs no GPU and no CUDA toolkit; where there is no nvcc, clang compiles the kernels.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

compiler=()
command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || compiler=(clang)
install_missing "${build_packages[@]}" "${compiler[@]}"
cmake --preset release -DFULLWARP_TESTS=OFF -B build/check >/dev/null
cmake --build build/check --target fullwarp
[ $# -gt 0 ] || set -- examples/transpose/02_tile.cu
# Exit code 1 says that something was found, which is the point here.
build/check/src/cli/fullwarp check "$@" || [ $? -eq 1 ]
