#!/bin/sh
# Makes the PTX beside each kernel anew. nvcc writes absolute paths into .file; the tests want them relative
# to the repository's root, which is where this runs from.
set -e
cd "$(dirname "$0")/../../.."
for source in tests/rules/kernels/*.cu; do
  nvcc -ptx -lineinfo -arch=sm_90 "$source" -o "${source%.cu}.ptx"
  sed -i "s#\"$PWD/#\"#" "${source%.cu}.ptx"
done
