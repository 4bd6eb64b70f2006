#!/bin/bash
# Builds the GEMM library and the recipes' benchmark without CMake on a machine with a GPU, checks them and measures
# all that docs/gemm.md shows: hw/gemm_run.sh OUT_FOLDER [check|times|all]. On a machine with 16 cores and an H200
# `check` takes a minute, `all` five; `times` checks the library's own choices and forced copies alone. Needs nvcc, cuBLAS, compute-sanitizer, Python with PyTorch.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
what=${2:-all}
work=$(mktemp -d)
cd "$work" || exit 3
cuda=/usr/local/cuda

# Objects, all at once; each log is shown where it has an error.
device="nvcc -std=c++17 -O3 -gencode arch=compute_90a,code=sm_90a -I$root/gemm/include -I$root/gemm/src -I$root/recipes"
host="g++ -std=c++20 -O2 -fPIC -fvisibility=hidden -I$root/gemm/include -I$cuda/include"
for file in "$root"/gemm/src/*.cu; do
  $device -Xcompiler -fPIC -c "$file" -o "gpu_$(basename "$file").o" > "$(basename "$file").log" 2>&1 &
done
for file in "$root"/gemm/src/*.cpp; do
  $host -c "$file" -o "host_$(basename "$file").o" > "$(basename "$file").log" 2>&1 &
done
for file in "$root"/gemm/preload/*.cpp; do
  $host -c "$file" -o "preload_$(basename "$file").o" > "preload_$(basename "$file").log" 2>&1 &
done
for program in gemm_check gemm_bench gemm_copy gemm_split recipes_bench; do
  $device -c "$root/hw/$program.cu" -o "$program.o" > "$program.log" 2>&1 &
done
wait
grep -h error ./*.log | head
libraries="-L$cuda/lib64 -lcublas -lcublasLt -lcudart_static -lpthread -ldl -lrt -static-libstdc++ -static-libgcc"
for program in gemm_check gemm_bench gemm_copy gemm_split recipes_bench; do
  g++ -o $program $program.o gpu_*.o host_*.o $libraries || exit 3
done
rm -f host_api.cpp.o host_lt.cpp.o host_convert.cpp.o
g++ -shared -o libfullwarp_cublas.so preload_*.o gpu_*.o host_*.o -L$cuda/lib64 -lcudart_static -lpthread -ldl -lrt \
  -static-libstdc++ -static-libgcc -Wl,--version-script="$root/gemm/preload/exports.map" || exit 3

# Correctness.
export LD_LIBRARY_PATH=$cuda/lib64
timeout 60 ./gemm_check --cases 500 --seed 11
ways="staged fused ahead fused:64 ahead:128 ahead:192 ahead:256"
[ "$what" = times ] && ways=ahead
for way in $ways; do
  export FULLWARP_GEMM_MODE=${way%:*}
  unset FULLWARP_GEMM_TILE
  case $way in *:*) export FULLWARP_GEMM_TILE=${way#*:} ;; esac
  echo "$way:"
  timeout 60 ./gemm_check --cases 400 --seed 12 &
  timeout 60 compute-sanitizer --tool memcheck ./gemm_check --small --cases 100 > sanitizer.log 2>&1
  wait
  tail -2 sanitizer.log
done
unset FULLWARP_GEMM_MODE FULLWARP_GEMM_TILE
FULLWARP_GEMM_MODE=staged FULLWARP_GEMM_WORKSPACE_MB=1 timeout 60 ./gemm_check --cases 150 --seed 14
preload=$work/libfullwarp_cublas.so
LD_LIBRARY_PATH='' LD_PRELOAD=$preload timeout 60 python3 "$root/hw/gemm_preload.py" 2>&1 | tail -1
[ "$what" = check ] && exit 0

# Times.
timeout 30 ./gemm_copy "$out/copy.csv"
timeout 30 ./gemm_split "$out/split.csv"
timeout 60 ./recipes_bench "$out/recipes.csv"
python3 "$root/hw/gemm_cases.py" full > cases.csv
timeout 150 ./gemm_bench cases.csv "$out/gemm.csv" 120
python3 "$root/hw/gemm_report.py" "$out/gemm.csv" | tee "$out/report.md"
unset LD_LIBRARY_PATH
timeout 60 python3 "$root/hw/recipes_cudnn.py" "$out/cudnn.csv"
echo "label,vocab,seed,step,ms,loss" > "$out/gpt2.csv"
# As it is (twice), with each batch's sequences reversed (the same sums in another order), with the vocabulary padded
# by hand (cuBLAS's kernels for aligned sizes), and ours.
gpt2() { timeout 60 python3 "$root/hw/gemm_gpt2.py" --steps 25 --csv "$out/gpt2.csv" "$@"; }
for seed in 1 2; do
  gpt2 --seed $seed --label plain
  LD_PRELOAD=$preload gpt2 --seed $seed --label preload
  gpt2 --seed $seed --label reversed --reversed
  gpt2 --seed $seed --label padded --padded
done
gpt2 --seed 1 --label again
