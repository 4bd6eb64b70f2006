#!/usr/bin/env bash
# Runs every fuzz target for its share of a time: fuzz/run.sh SECONDS OUTDIR
#
# Targets, seeds and libraries are those in BIN (default: the folder of this script, as fuzz/bundle.sh fills it).
# PROCESSES (default: all processors but two) run at once; with fewer processes than targets each target gets an
# equal share of the seconds, with more some targets run twice over one corpus. OUTDIR gets what crashed
# (TARGET-crash-..., also timeouts and leaks) with the end of its output, and log.csv, one line a process: target,
# executions, CPU seconds, exit code (0: nothing found). One input may take LIMIT seconds (10). CORPUS keeps what
# was learned; by default it is a temporary folder that begins with the seeds.
set -u
seconds=${1:?fuzz/run.sh SECONDS OUTDIR}
out=${2:?fuzz/run.sh SECONDS OUTDIR}
bin=$(cd "${BIN:-$(dirname "$0")}" && pwd)
mkdir -p "$out" && out=$(cd "$out" && pwd)
processes=${PROCESSES:-$(($(nproc) - 2))}
[ "$processes" -ge 1 ] || processes=1
corpus=${CORPUS:-$(mktemp -d)}
mkdir -p "$corpus"
export LD_LIBRARY_PATH="$bin/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
limit=${LIMIT:-10}  # seconds for one input
export UBSAN_OPTIONS=print_stacktrace=1

targets=()
for path in "$bin"/*_fuzz; do targets+=("$(basename "$path")"); done
for target in "${targets[@]}"; do
  mkdir -p "$corpus/$target"
  [ ! -d "$bin/seeds/$target" ] || cp -n "$bin/seeds/$target"/* "$corpus/$target/"
done
# A sandbox may forbid what the leak checker does.
leaks=1
"$bin/${targets[0]}" -runs=1 2>&1 | grep -q 'LeakSanitizer has encountered a fatal error' && leaks=0

one() {  # NUMBER TARGET SECONDS
  local name="$2-$1" dictionary=() end=$((SECONDS + $3)) code=0 cpu=0 runs=0 used
  [ ! -f "$bin/seeds/$2.dict" ] || dictionary=(-dict="$bin/seeds/$2.dict")
  while [ $((end - SECONDS)) -ge 1 ]; do
    TIMEFORMAT='%U %S'
    used=$({ time nice -n 19 timeout -k 10 $((end - SECONDS + 60)) "$bin/$2" -max_total_time=$((end - SECONDS)) \
      -rss_limit_mb=2048 -timeout="$limit" -print_final_stats=1 -detect_leaks="$leaks" -artifact_prefix="$out/$2-" \
      "${dictionary[@]}" "$corpus/$2" >"$out/$name.full" 2>&1; echo "$?" >"$out/$name.code"; } 2>&1)
    code=$(cat "$out/$name.code")
    cpu=$((cpu + $(echo "$used" | tail -n 1 | awk '{print int($1 + $2)}')))
    # What a finding says stands at the end; the rest is progress.
    grep -v '^#' "$out/$name.full" | tail -n 200 >"$out/$name.txt"
    runs=$((runs + $(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$name.txt" | tail -n 1) + 0))
    case $code in 72 | 124 | 137) code=0 ;; esac  # stopped in overtime on a busy machine; a hang would say so
    [ "$code" -eq 70 ] && starved "$2" "$out/$name.txt" || break
    code=0
  done
  rm -f "$out/$name.full" "$out/$name.code"
  echo "$2,$runs,$cpu,$code" >>"$out/log.csv"
  [ "$code" -ne 0 ] || rm -f "$out/$name.txt"
}

# A timeout is measured on the clock; on a busy machine only CPU seconds tell. Removes the input if it is none.
starved() {  # TARGET REPORT
  local input
  input=$(sed -n 's/.*Test unit written to //p' "$2" | tail -n 1)
  [ -n "$input" ] && (ulimit -t "$limit"; exec "$bin/$1" -timeout=10000 "$input") >/dev/null 2>&1 && rm -f "$input"
}

jobs=$((${#targets[@]} > processes ? ${#targets[@]} : processes))
slot=$((seconds * processes / jobs))
[ "$slot" -ge 1 ] || slot=1
[ -s "$out/log.csv" ] || echo "target,executions,cpu_seconds,exit_code" >"$out/log.csv"
for ((i = 0; i < jobs; ++i)); do
  while [ "$(jobs -rp | wc -l)" -ge "$processes" ]; do wait -n; done
  one "$i" "${targets[i % ${#targets[@]}]}" "$slot" &
done
wait
[ -n "${CORPUS:-}" ] || rm -rf "$corpus"
! awk -F, 'NR > 1 && $4 != 0' "$out/log.csv" | grep .
