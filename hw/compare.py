#!/usr/bin/env python3
"""Compares what fullwarp counts on the gallery with what a GPU counted.

usage: hw/compare.py [--binary build/src/cli/fullwarp] [--all] [FILE...]

Runs `fullwarp check` on the PTX of every gallery file in tests/hardware/h200_gallery.csv and prints, launch by
launch, the values that differ, then how many of each metric are equal. tests/hardware/hardware_test.cpp holds the
program to the same table, minus the differences that tests/hardware/known_differences.csv explains; this script is
for looking at them. FILE: parts of the names of the files to look at.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
METRICS = [
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
    "memory_l1_wavefronts_shared",
    "memory_l1_wavefronts_shared_ideal",
    "memory_l1_tag_requests_global",
    "memory_l2_theoretical_sectors_global",
    "memory_l2_theoretical_sectors_global_ideal",
    "memory_l2_theoretical_sectors_local",
    "sm__maximum_warps_per_active_cycle_pct",
]


def rows(name):
    with open(ROOT / "tests" / "hardware" / name) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def measured_metrics():
    """{file: [(kernel, {metric: value})]}, in the order of the launches."""
    files = {}
    for row in rows("h200_gallery.csv"):
        launches = files.setdefault(row["file"], {})
        kernel, metrics = launches.setdefault(int(row["launch"]), (row["kernel"], {}))
        metrics[row["metric"]] = float(row["value"])
    return {file: [launches[i] for i in sorted(launches)] for file, launches in files.items()}


def measured_outputs():
    files = {}
    for row in rows("h200_outputs.csv"):
        files.setdefault(row["file"], {})[row["buffer"]] = row
    return files


def check(binary, file):
    ptx = ROOT / "tests" / "golden" / "ptx" / pathlib.Path(file).relative_to("examples").with_suffix(".ptx")
    done = subprocess.run(
        [binary, "check", str(ptx.relative_to(ROOT)), "--launch-file", file, "--format", "json"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    return json.loads(done.stdout)


def ours_of(kernel, metric):
    if metric == "sm__maximum_warps_per_active_cycle_pct":
        occupancy = kernel["occupancy"] or {}
        return 100.0 * occupancy.get("warps_per_sm", 0) / occupancy.get("max_warps_per_sm", 1)
    return kernel["metrics"].get(metric)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(ROOT / "build" / "src" / "cli" / "fullwarp"))
    parser.add_argument("--all", action="store_true", help="print equal values too")
    parser.add_argument("--csv", help="write the differences here, as rows of known_differences.csv without reasons")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    binary = str(pathlib.Path(options.binary).resolve())

    equal, total, differences, skipped = {}, {}, [], 0

    def compare(file, launch, name, metric, ours, theirs):
        total[metric] = total.get(metric, 0) + 1
        same = ours is not None and (ours == theirs or isinstance(theirs, float) and abs(ours - theirs) < 0.01)
        equal[metric] = equal.get(metric, 0) + same
        if not same:
            shown = int(theirs) if isinstance(theirs, float) and theirs == int(theirs) else theirs
            differences.append([file, launch, f"output {name}" if metric.startswith("output ") else metric, ours, shown])
        if not same or options.all:
            print(f"{file} {launch} {name:24.24} {metric:52} {ours!s:>16} {theirs!s:>16}")

    outputs = measured_outputs()
    for file, launches in measured_metrics().items():
        if options.files and not any(part in file for part in options.files):
            continue
        report = check(binary, file)
        for error in report["errors"]:
            print(f"{file}: {error['line']}: {error['message']}")
        hashes, kernels = {}, report["kernels"]
        for launch, (name, metrics) in enumerate(launches):
            if not kernels or kernels[0]["name"].replace(" ", "") != name.replace(" ", ""):
                print(f"{file} {launch} {name}: did not run")
                skipped += len(METRICS)
                continue
            kernel = kernels.pop(0)
            for metric in METRICS:
                compare(file, launch, name, metric, ours_of(kernel, metric), metrics[metric])
            for output in kernel["outputs"]:
                hashes[output["buffer"]] = output["hash"]
        for buffer, row in outputs.get(file, {}).items():
            if row["stable"] == "1" and buffer in hashes:
                compare(file, "", buffer, "output " + row["type"], hashes[buffer], row["fnv1a64"])
    print()
    for metric in total:
        print(f"{metric:52} {equal[metric]:4} of {total[metric]:4} equal")
    print(f"{'all':52} {sum(equal.values()):4} of {sum(total.values()):4} equal, {skipped} of launches that did not run")
    if options.csv:
        with open(options.csv, "w") as file:
            csv.writer(file, lineterminator="\n").writerows(differences)
    return 0


if __name__ == "__main__":
    sys.exit(main())
