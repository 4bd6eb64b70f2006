#!/bin/sh
# Makes the PTX on which the golden tests run, so that they do not depend on the compiler at hand.
#
#   tests/golden/ptx/FOLDER/NAME.ptx         every file of examples/, nvcc -lineinfo, sm_90
#   tests/golden/variants/KIND/FOLDER/NAME.ptx   some of them as other compilers and flags write them:
#       debug (nvcc -G), O0 (nvcc -Xcicc -O0), clang (clang with our headers, sm_80; left as it is without clang)
#   tests/golden/MADE_WITH                   the compilers' versions
#
# The sources are compiled in a copy of the tree whose name does not depend on where the repository lies, and
# that name is taken off the .file directives. Usage:
#   scripts/make_golden_ptx.sh                 makes everything anew
#   scripts/make_golden_ptx.sh --only clang    the kinds whose name holds the word: ptx, debug, O0, clang
#   scripts/make_golden_ptx.sh --check         fails if what is in the repository differs from what would be made;
#                                              with --only, of those kinds
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
out=$root/tests/golden
check=no only=
while [ $# -gt 0 ]; do
  case $1 in
    --check) check=yes ;;
    --only)
      only=${2:?--only needs a word}
      shift
      ;;
    *)
      echo "make_golden_ptx.sh: $1 is not known; --check and --only WORD are" >&2
      exit 2
      ;;
  esac
  shift
done
if ! command -v nvcc >/dev/null; then
  echo "make_golden_ptx.sh: nvcc is not on the PATH; nothing made" >&2
  exit 2
fi

copy=/tmp/fullwarp-golden
rm -rf "$copy"
mkdir "$copy"
trap 'rm -rf "$copy"' EXIT
cp -r "$root/examples" "$root/recipes" "$copy/"
made=$copy/made
cd "$copy"

# relative FILE: .file names as seen from the repository's root, without FOLDER/.., the toolkit's headers under
# cuda/include.
relative() {
  sed -i -E \
    -e ':again' -e '/^[[:space:]]*\.file.*\/recipes\//s|(["/])[^/".]+/\.\./|\1|' -e 't again' \
    -e '/^[[:space:]]*\.file/s|"'"$copy"'/|"|' \
    -e '/^[[:space:]]*\.file/s|"'"$copy"'"|"."|' \
    -e '/^[[:space:]]*\.file/s|"'"$root"'/|"|' \
    -e '/^[[:space:]]*\.file/s|"[^"]*/include/|"cuda/include/|' \
    -e '/^[[:space:]]*\.file/s|"cuda/include/([^"]*)/\.\./|"cuda/include/|' "$1"
}

# compile KIND SOURCE COMMAND...: the command writes PTX to the file that it gets as its last argument.
compile() {
  kind=$1 source=$2
  shift 2
  to=$made/$kind/${source#examples/}
  to=${to%.cu}.ptx
  mkdir -p "$(dirname "$to")"
  "$@" "$source" -o "$to" || { echo "$kind of $source failed" >> "$copy/failed"; return; }
  relative "$to"
}

jobs_running=0
background() {  # as many compilers at a time as there are cores
  case $1 in
    *"$only"*) ;;
    *) return ;;
  esac
  compile "$@" &
  jobs_running=$((jobs_running + 1))
  if [ "$jobs_running" -ge "$(nproc)" ]; then wait; jobs_running=0; fi
}

for source in examples/*/*.cu; do
  background ptx "$source" nvcc -arch=sm_90 -lineinfo -ptx
done
variants="matmul/03_tiled matmul/06_vectorised transpose/02_tile conv2d/02_shared reduction/04_shuffle
  structs/05_struct_of_arrays modulo/01_run_time algorithms/quicksort algorithms/scan algorithms/histogram
  algorithms/function_pointers algorithms/printf_assert tensor/02_mma_ldmatrix"
for name in $variants; do
  background variants/debug "examples/$name.cu" nvcc -arch=sm_90 -G -ptx
  background variants/O0 "examples/$name.cu" nvcc -arch=sm_90 -lineinfo -Xcicc -O0 -ptx
done
clang=$(command -v clang++ || true)
if [ -n "$clang" ]; then
  for name in $variants tensor/01_wmma algorithms/cooperative_groups algorithms/softmax; do
    background variants/clang "examples/$name.cu" "$clang" -x cuda --cuda-device-only -S -nocudainc -nocudalib \
      --cuda-path=/nonexistent -O3 -gline-tables-only -I "$root/src/cudainc" -include cuda_runtime.h \
      --cuda-gpu-arch=sm_80 -Xclang -target-feature -Xclang +ptx75 -std=c++17
  done
else
  echo "make_golden_ptx.sh: no clang here; tests/golden/variants/clang stays as it is" >&2
  mkdir -p "$made/variants"
  cp -r "$out/variants/clang" "$made/variants/"
fi
wait
if [ -e "$copy/failed" ]; then
  cat "$copy/failed" >&2
  exit 1
fi

{
  echo "nvcc: $(nvcc --version | tail -2 | head -1)"
  if [ -n "$clang" ]; then echo "clang: $("$clang" --version | head -1)"; else sed -n 2p "$out/MADE_WITH"; fi
} > "$made/MADE_WITH"

if [ "$check" = yes ]; then
  differ=no
  for kind in ptx variants/debug variants/O0 variants/clang MADE_WITH; do
    if [ ! -e "$made/$kind" ]; then continue; fi  # not asked for
    diff -rq "$made/$kind" "$out/$kind" || differ=yes
  done
  if [ "$differ" = yes ]; then exit 1; fi
  echo "tests/golden is up to date"
  exit
fi
if [ -z "$only" ]; then rm -rf "$out/ptx" "$out/variants"; fi
mkdir -p "$out"
cp -r "$made"/* "$out/"
echo "$(find "$out" -name '*.ptx' | wc -l) files in tests/golden"
