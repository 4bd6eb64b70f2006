#!/usr/bin/env python3
"""Runs the gallery on a real GPU and writes what the tests hold fullwarp to.

    hw/measure.py [--launcher FILE] [--out FOLDER] [--work FOLDER] [--only TEXT] [--no-ncu]
                  [--details]

Builds hw/launcher.cpp (unless --launcher names one), makes a cubin of every file of tests/golden/ptx with
ptxas, runs the launch comments of examples/ twice through the launcher and once under Nsight Compute, and writes

    h200_gallery.csv   file,launch,line,kernel,metric,value: every launch, every metric
    h200_outputs.csv   file,buffer,type,count,fnv1a64,stable: every buffer after the file's last launch

to --out (tests/hardware), each with the conditions in `#` lines at its top. `launch` counts a file's launches
from 0, `line` is that of the statement. `stable` is 0 where the two plain runs differ (races).
--work keeps the rest: cubins, logs, raw outputs, the profiler's reports, and with --details its
per-instruction page and the machine code. About two minutes on an H200.
Needs nvcc's ptxas and cuobjdump, ncu, and a driver; nothing beyond Python's standard library.
"""
import argparse
import collections
import concurrent.futures
import csv
import datetime
import gzip
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ARCHITECTURE = "sm_90"

# Files that never end on a GPU either (02: seen on an H200; its last block waits for ever).
ENDLESS = {"examples/mistakes/02_barrier_under_condition.cu", "examples/mistakes/07_deadlock.cu",
           "examples/mistakes/10_never_ends.cu"}
# Files that may break or block the context they run in: a process each.
RISKY = re.compile(r"examples/mistakes/|examples/algorithms/spin_lock")
RISKY_SECONDS = 20

L1 = "l1tex__t_{}_pipe_lsu_mem_{}_op_{}.sum"
METRICS = [
    *[L1.format(what, space, op) for space in ("global", "local") for op in ("ld", "st")
      for what in ("requests", "sectors")],
    *[L1.format(what, "global", op) for op in ("red", "atom") for what in ("requests", "sectors")],
    *[f"l1tex__t_sectors_pipe_lsu_mem_{space}_op_{op}_lookup_hit.sum" for space in ("global", "local")
      for op in ("ld", "st")],
    "memory_l1_wavefronts_shared", "memory_l1_wavefronts_shared_ideal",
    "memory_l2_theoretical_sectors_global", "memory_l2_theoretical_sectors_global_ideal",
    "memory_l2_theoretical_sectors_local", "memory_l1_tag_requests_global",
    *[f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum" for op in ("ld", "st")],
    *[f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum" for op in ("ld", "st", "atom")],
    "smsp__inst_executed_op_shared_ld.sum", "smsp__inst_executed_op_shared_st.sum",
    "smsp__inst_executed_op_shared_atom.sum", "smsp__inst_executed_op_ldsm.sum",
    "smsp__inst_executed_op_ldgsts.sum",
    "smsp__sass_inst_executed_op_shared_ld.sum", "smsp__sass_inst_executed_op_shared_st.sum",
    "smsp__inst_executed.sum", "smsp__thread_inst_executed.sum",
    "smsp__thread_inst_executed_per_inst_executed.ratio",
    "smsp__sass_branch_targets.sum", "smsp__sass_branch_targets_threads_divergent.sum",
    "lts__t_sectors_srcunit_tex_op_read.sum", "lts__t_sectors_srcunit_tex_op_write.sum",
    "dram__bytes_read.sum", "dram__bytes_write.sum",
    "sm__warps_active.avg.pct_of_peak_sustained_active", "sm__maximum_warps_per_active_cycle_pct",
    "launch__registers_per_thread", "launch__shared_mem_per_block", "launch__shared_mem_per_block_static",
    "launch__shared_mem_per_block_dynamic", "launch__shared_mem_config_size",
    "launch__occupancy_limit_blocks", "launch__occupancy_limit_registers",
    "launch__occupancy_limit_shared_mem", "launch__occupancy_limit_warps",
    "gpu__time_duration.sum", "sm__cycles_active.max",
]
# Counters of the hardware, of which the profiler gives a list; the others come from machine code and launch.
HARDWARE_COUNTER = re.compile(r"(l1tex|smsp|sm|lts|dram|gpu)__")

Job = collections.namedtuple("Job", "source ptx cubin")


def note(text):
    print(f"[{time.monotonic() - STARTED:6.1f} s] {text}", flush=True)


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=150).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def build_launcher(work):
    folder = os.path.join(work, "build")
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DFULLWARP_TESTS=OFF"],
                   check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "fullwarp_launcher", "-j", str(os.cpu_count())],
                   check=True)
    return os.path.join(folder, "hw", "fullwarp_launcher")


def find_jobs(work, only):
    jobs = []
    for folder, _, names in sorted(os.walk(os.path.join(ROOT, "tests", "golden", "ptx"))):
        for name in sorted(names):
            ptx = os.path.relpath(os.path.join(folder, name), ROOT)
            stem = os.path.splitext(os.path.relpath(ptx, "tests/golden/ptx"))[0]
            source = f"examples/{stem}.cu"
            if only in source and source not in ENDLESS:
                jobs.append(Job(source, ptx, os.path.join(work, "cubin", stem.replace("/", "+") + ".cubin")))
    return jobs


def assemble(jobs, work):
    os.makedirs(os.path.join(work, "cubin"), exist_ok=True)

    def one(job):
        command = ["ptxas", f"-arch={ARCHITECTURE}", "--generate-line-info", job.ptx, "-o", job.cubin]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            note(f"ptxas refused {job.ptx}: {done.stderr.strip()}")
        return done.returncode == 0

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [job for job, ok in zip(jobs, pool.map(one, jobs)) if ok]


def groups_of(jobs):
    """Jobs that share a process: all safe ones, and each risky one alone."""
    safe = [job for job in jobs if not RISKY.search(job.source)]
    return ([safe] if safe else []) + [[job] for job in jobs if RISKY.search(job.source)]


def launch(group, launcher, work, label, prefix=(), seconds=RISKY_SECONDS, extra=()):
    """Runs a group; returns the rows of its two CSV files and what went wrong."""
    base = os.path.join(work, label)
    with open(base + ".list", "w") as file:
        file.writelines(f"{job.source} {job.ptx} {job.cubin}\n" for job in group)
    command = [*prefix, launcher, "--outputs", base + ".outputs", "--launches", base + ".launches", *extra,
               base + ".list"]
    trouble = ""
    with open(base + ".log", "w") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        try:
            code = process.wait(timeout=seconds)
            if code != 0:
                trouble = f"exit code {code}"
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            trouble = f"stopped after {seconds} s"
    if trouble:
        with open(base + ".log") as log:
            note(f"{label} ({group[0].source} ...): {trouble}: {log.read()[-600:].strip()}")
    rows = []
    for name in (".outputs", ".launches"):
        rows.append(list(csv.DictReader(open(base + name))) if os.path.exists(base + name) else [])
    return rows[0], rows[1], trouble


def known_metrics():
    """METRICS without the counters that this profiler does not have."""
    listed = {line.split()[0] for line in output_of("ncu", "--query-metrics", "--chips", "gh100").splitlines()
              if line.strip()}
    if not any(name.startswith("l1tex__") for name in listed):
        return METRICS
    unknown = [metric for metric in METRICS
               if HARDWARE_COUNTER.match(metric) and metric.split(".")[0] not in listed
               and not metric.startswith("sm__maximum")]
    if unknown:
        note("not known to this profiler: " + ", ".join(unknown))
    return [metric for metric in METRICS if metric not in unknown]


def profile(group, launcher, work, label, metrics, seconds):
    """Runs a group under the profiler; returns (launch row, {metric: value}) in order."""
    report = os.path.join(work, label)
    prefix = ["ncu", "--clock-control", "none", "--target-processes", "application-only", "-f", "-o", report,
              "--metrics", ",".join(metrics)]
    _, launches, _ = launch(group, launcher, work, label, prefix, seconds)
    report += ".ncu-rep"
    if not os.path.exists(report):
        return []
    text = output_of("ncu", "--import", report, "--page", "raw", "--csv", "--print-units", "base")
    rows = list(csv.reader(line for line in text.splitlines() if line.startswith('"')))
    if len(rows) < 3:
        return []
    head, kernels = rows[0], rows[2:]  # rows[1] holds the units
    if len(kernels) != len(launches):
        note(f"{label}: {len(launches)} launches, but {len(kernels)} kernels in the profiler's report")
    return [(row, {name: value for name, value in zip(head, kernel) if name in metrics})
            for row, kernel in zip(launches, kernels)]


def conditions():
    gpu = output_of("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").splitlines()[0].strip()
    nvcc = re.search(r"release [\d.]+, V([\d.]+)", output_of("nvcc", "--version"))
    ncu = re.search(r"Version ([\d.]+)", output_of("ncu", "--version"))
    with open(os.path.join(ROOT, "tests/golden/MADE_WITH")) as made:
        return [f"GPU and driver: {gpu}",
                f"CUDA: {nvcc.group(1) if nvcc else 'unknown'} (ptxas -arch={ARCHITECTURE})",
                f"Nsight Compute: {ncu.group(1) if ncu else 'unknown'}, --clock-control none, caches flushed",
                "PTX made with " + "; ".join(made.read().split("\n")).strip("; "),
                f"date: {datetime.date.today().isoformat()}",
                "made by hw/measure.py from examples/ and tests/golden/ptx"]


def write_csv(path, header, rows):
    with open(path, "w", newline="") as file:
        file.writelines(f"# {line}\n" for line in conditions())
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    note(f"{path}: {len(rows)} rows")


def measure_outputs(groups, launcher, work, out):
    raw = os.path.join(work, "raw")
    os.makedirs(raw, exist_ok=True)
    rows = []
    for number, group in enumerate(groups):
        seconds = RISKY_SECONDS if len(group) == 1 else 120
        first, _, trouble = launch(group, launcher, work, f"plain{number}", seconds=seconds,
                                   extra=("--raw", raw))
        second, _, _ = launch(group, launcher, work, f"again{number}", seconds=seconds)
        again = {(row["file"], row["buffer"]): row["fnv1a64"] for row in second}
        for row in first:
            same = again.get((row["file"], row["buffer"])) == row["fnv1a64"]
            rows.append([row["file"], row["buffer"], row["type"], row["count"], row["fnv1a64"], int(same)])
        if trouble and len(group) == 1 and not first:
            with open(os.path.join(work, f"plain{number}.log")) as log:
                message = (log.read().strip().splitlines() or [trouble])[-1]
            rows.append([group[0].source, "", "", 0, message, 1])
    header = ["file", "buffer", "type", "count", "fnv1a64", "stable"]
    write_csv(os.path.join(out, "h200_outputs.csv"), header, rows)


def measure_counters(groups, launcher, work, out):
    metrics = known_metrics()
    rows = []
    for number, group in enumerate(groups):
        seen = collections.Counter()
        seconds = 2 * RISKY_SECONDS if len(group) == 1 else 250
        for row, values in profile(group, launcher, work, f"ncu{number}", metrics, seconds):
            index = seen[row["file"]]
            seen[row["file"]] += 1
            rows += [[row["file"], index, row["line"], row["kernel"], name, value.replace(",", "")]
                     for name, value in values.items()]
        note(f"profiled {len(group)} file(s) of group {number}")
    header = ["file", "launch", "line", "kernel", "metric", "value"]
    write_csv(os.path.join(out, "h200_gallery.csv"), header, rows)


def keep_details(jobs, work):
    """The per-instruction page of the profiler and the machine code, for whoever looks for a difference."""
    with gzip.open(os.path.join(work, "sass.txt.gz"), "wt") as file:
        for job in jobs:
            file.write(f"### {job.source}\n" + output_of("cuobjdump", "-sass", job.cubin))
    report = os.path.join(work, "ncu0.ncu-rep")
    if os.path.exists(report):
        with gzip.open(os.path.join(work, "source_page.csv.gz"), "wt") as file:
            file.write(output_of("ncu", "--import", report, "--page", "source", "--csv",
                                 "--print-source", "sass"))
    note("machine code and per-instruction page written")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launcher")
    parser.add_argument("--out", default=os.path.join(ROOT, "tests", "hardware"))
    parser.add_argument("--work", default=os.path.join(ROOT, "build-hw", "measure"))
    parser.add_argument("--only", default="", help="files whose path holds this text")
    parser.add_argument("--no-ncu", action="store_true", help="outputs only")
    parser.add_argument("--details", action="store_true",
                        help="machine code and per-instruction counters too")
    options = parser.parse_args()
    work = os.path.abspath(options.work)
    out = os.path.abspath(options.out)
    os.makedirs(work, exist_ok=True)
    os.makedirs(out, exist_ok=True)
    for tool in ("ptxas", "nvidia-smi") + (() if options.no_ncu else ("ncu",)):
        if not shutil.which(tool):
            print(f"measure.py: {tool} is not on the PATH; nothing measured", file=sys.stderr)
            return 2
    launcher = os.path.abspath(options.launcher) if options.launcher else build_launcher(work)
    jobs = assemble(find_jobs(work, options.only), work)
    note(f"{len(jobs)} files assembled")
    groups = groups_of(jobs)
    measure_outputs(groups, launcher, work, out)
    if not options.no_ncu:
        measure_counters(groups, launcher, work, out)
    if options.details:
        keep_details(jobs, work)
    return 0


STARTED = time.monotonic()
if __name__ == "__main__":
    sys.exit(main())
