#!/usr/bin/env bash
# Builds the benchmarks, runs them, and prints the tables of docs/benchmarks.md: scripts/bench.sh [BUILD_FOLDER]
# REPEAT=n sets how often each is measured (5); the best counts. PoCL's part is left out where there is no OpenCL.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

folder=${1:-build/bench}
repeat=${REPEAT:-5}
install_missing "${build_packages[@]}" libbenchmark-dev
install_missing ocl-icd-opencl-dev opencl-headers pocl-opencl-icd || echo "note: going on without PoCL" >&2
if [ ! -f "$folder/CMakeCache.txt" ]; then
  cmake --preset release -DFULLWARP_TESTS=OFF -DFULLWARP_BENCH=ON -B "$folder" >/dev/null
fi
targets=(exec_bench fullwarp)
if grep -q '^OpenCL_LIBRARY:.*NOTFOUND' "$folder/CMakeCache.txt"; then
  echo "pocl_bench is skipped: no OpenCL" >&2
else
  targets+=(pocl_bench)
fi
cmake --build "$folder" --target "${targets[@]}" >&2

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
for program in exec_bench pocl_bench; do
  [[ " ${targets[*]} " == *" $program "* ]] || continue
  "$folder/bench/$program" --benchmark_repetitions="$repeat" --benchmark_min_time=0.2 \
    --benchmark_enable_random_interleaving=true \
    --benchmark_out="$results/$program.json" --benchmark_out_format=json >&2
done

echo "$(date -u +%F), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) CPUs, load $(cut -d' ' -f1 /proc/loadavg)"
echo

# Google Benchmark writes one field a line; of each benchmark's repetitions the best is kept.
cat "$results"/*.json | awk -F'": ' '
  function field(line) { sub(/^[^:]*": "?/, "", line); sub(/"?,?$/, "", line); return line }
  function ratio(a, b) { return a && b ? sprintf("%.2f", a / b) : "-" }
  function rate(a, f) { return a ? sprintf(f, a) : "-" }
  /"name": /             { name = field($0); sub(/\/process_time.*/, "", name) }
  /"run_type": /         { counts = $0 ~ /iteration/ }
  /"error_message": /    { print "error: " name ": " field($0) > "/dev/stderr" }
  counts && /"real_time": /        { x = field($0) + 0; if (!(name in wall) || x < wall[name]) wall[name] = x }
  counts && /"items_per_second": / { x = field($0) / 1e6; if (x > items[name]) items[name] = x
                                     kernel = name; sub(/\/.*/, "", kernel)
                                     if (!(kernel in seen)) { seen[kernel] = 1; order[++kernels] = kernel } }
  counts && /"GFLOP": /         { x = field($0) + 0; if (x > flops[name]) flops[name] = x }
  END {
    print "| kernel | counters only, M/s | default, M/s | default / counters | 2 threads / 1, counters | 2 threads / 1, default |"
    print "|---|--:|--:|--:|--:|--:|"
    for (k = 1; k <= kernels; ++k) {
      c = order[k] "/counters/threads:"; d = order[k] "/default/threads:"
      print "| " order[k] " | " rate(items[c 1], "%.1f") " | " rate(items[d 1], "%.1f") " | " ratio(items[d 1], items[c 1]) \
            " | " ratio(wall[c 1], wall[c 2]) " | " ratio(wall[d 1], wall[d 2]) " |"
    }
    print ""
    print "| product, n = 512 | counters only, GFLOP/s | default, GFLOP/s | PoCL, GFLOP/s | counters only / PoCL |"
    print "|---|--:|--:|--:|--:|"
    for (k = 1; k <= kernels; ++k) {
      p = order[k] "/pocl"; c = order[k] "/counters/threads:1"; d = order[k] "/default/threads:1"
      if (flops[c]) print "| " order[k] " | " rate(flops[c], "%.2f") " | " rate(flops[d], "%.2f") " | " \
                          rate(flops[p], "%.2f") " | " ratio(flops[c], flops[p]) " |"
    }
  }'

# From start to finish, the way a user meets it.
echo
launch='transpose_tile<<<(32,32), (32,8)>>>(f32[1048576]:uniform, f32[1048576], 1024, 1024)'
TIMEFORMAT='%R %U %S'
for ((i = 0; i < repeat; ++i)); do
  { time "$folder/src/cli/fullwarp" check tests/golden/ptx/transpose/03_padded.ptx --launch "$launch" \
      >/dev/null 2>&1 || [ $? -eq 1 ]; } 2>&1
done | sort -n | awk 'NR == 1 { print "fullwarp check of a 1024 x 1024 transpose from PTX: " $1 " s (CPU " $2 + $3 " s)" }'
