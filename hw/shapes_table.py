#!/usr/bin/env python3
"""Makes the shape advisor's tables from what hw/shapes_grid.py measured.

    hw/shapes_table.py MEASURED_FOLDER...   (the last one from --part 3)

Writes src/shapes/data/h200_{gemm,conv,attention}{,_fit}.csv, which become part of the program, and
tests/shapes/data/h200_{held,held_conv,held_attention,pitch}.csv, which only tests read: sizes that no fit sees, and
neighbours of wide pitches.

The fit: every group of products that run the same kernels (type, layout, alignment) gets five constants of

    time = launch + max(bytes / bandwidth, min over tiles and splits of K of
                        waves * (2 * tile area * K / split / (rate * tile efficiency) + tile overhead) + reduction)

by minimising the mean absolute logarithm of predicted / measured, with a weak pull to a plausible start.
Convolutions and attention have formulas of the same kind (conv_model, attention_model). src/shapes/ has these formulas
too (formula.cpp); what they leave is interpolated between neighbours there. Needs numpy and scipy.
"""
import collections
import os
import sys

import numpy as np
from scipy.optimize import minimize

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SMS = 132
UNIT = {"bf16": 8, "fp16": 8, "tf32": 4, "fp32": 4, "fp8": 16, "int8": 16}
BYTES = {"bf16": 2, "fp16": 2, "tf32": 4, "fp32": 4, "fp8": 1, "int8": 1}
OUT_BYTES = {"bf16": 2, "fp16": 2, "tf32": 4, "fp32": 4, "fp8": 2, "int8": 4}
TILES = [(256, 128), (128, 256), (128, 128), (128, 64), (64, 128), (64, 64), (64, 256), (256, 64), (32, 64), (64, 32),
         (32, 32), (16, 64), (64, 16), (16, 128), (128, 16)]
SPLITS = (1, 2, 4, 8, 16, 32)
START = np.log([2.0, 12e6, 3.5e6, 1.0, 20.0])  # us, FLOP/us of an SM, bytes/us, us, elements
UNALIGNED = 0.18  # the rate's start where 16 bytes are not kept


def read(folders, name):
    header, rows = [], []
    for folder in folders:
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            continue
        with open(path) as file:
            lines = file.read().splitlines()
        header += [line for line in lines if line.startswith("#") and line not in header]
        body = [line for line in lines if not line.startswith("#")]
        columns = body[0].split(",")
        rows += [dict(zip(columns, line.split(","))) for line in body[1:] if line.count(",") == len(columns) - 1]
    return header, rows


def power(x, unit):
    """The largest power of two up to `unit` that divides x."""
    result = 1
    while result < unit and x % (2 * result) == 0:
        result *= 2
    return result


def alignment(r):
    """(of A and B, of C): full where pitch, contiguous extent and base are multiples of 16 bytes, even where 16-bit
    elements go in pairs, else odd."""
    unit = UNIT[r["dtype"]]
    m, n, k = int(r["M"]), int(r["N"]), int(r["K"])
    extents = {"NN": (k, n, n), "NT": (k, k, n), "TN": (m, n, n)}[r["layout"]]
    offset = int(r["offset"])
    a, b, c = (min(power(int(r[p]), unit), power(e, unit), power(offset, unit) if offset else unit)
               for p, e in zip(("lda", "ldb", "ldc"), extents))
    name = lambda x: "full" if x == unit else "even" if x > 1 and unit == 8 else "odd"
    return name(min(a, b)), name(c)


def group_of(r):
    """Groups share kernels: bf16 and fp16 where aligned, all alignments in fp32."""
    ab, c = alignment(r)
    if r["dtype"] == "fp32":
        ab = c = "full"
    dtype = "bf16" if r["dtype"] == "fp16" and ab == c == "full" else r["dtype"]
    return dtype, r["layout"], ab, c


def model(p, m, n, k, size):
    launch, rate, bandwidth, overhead, edge = np.exp(p)
    best = np.full(len(m), np.inf)
    for a, b in TILES:
        tiles = np.ceil(m / a) * np.ceil(n / b)
        efficiency = 1 / (1 + edge * (1 / a + 1 / b))
        for split in SPLITS:
            depth = np.ceil(k / split / 64) * 64 if split > 1 else np.ceil(k / 32) * 32
            t = np.ceil(tiles * split / SMS) * (2 * a * b * depth / (rate * efficiency) + overhead)
            if split > 1:
                t = t + m * n * 4 * split / 3e6 + overhead
            best = np.minimum(best, t)
    return launch + np.maximum(best, size / bandwidth)


def arrays(rows):
    m, n, k = (np.array([float(r[x]) for r in rows]) for x in "MNK")
    size = np.array([BYTES[r["dtype"]] for r in rows]) * (m * k + k * n) + \
        np.array([OUT_BYTES[r["dtype"]] for r in rows]) * m * n
    return m, n, k, size, np.array([float(r["us"]) for r in rows])


def fit(group, rows):
    m, n, k, size, us = arrays(rows)
    start = START.copy()
    if group[2:] != ("full", "full"):
        start[1] += np.log(UNALIGNED)
    if group[0] == "fp32":
        start[1] = np.log(6e5)
    return minimised(lambda p: model(p, m, n, k, size), us, start)


def minimised(predict, us, start):
    def loss(p):
        error = np.log(predict(p) / us)
        return np.mean(np.abs(error)) + 0.1 * np.mean(error * error) + 0.004 * np.sum((p - start) ** 2)
    return np.exp(minimize(loss, start, method="Nelder-Mead", options=dict(maxiter=500, xatol=1e-3, fatol=1e-4)).x)


def conv_group(r):
    """Which layout, which pass, and whether channels in and out are multiples of 8."""
    whole = lambda c: "full" if int(r[c]) % 8 == 0 else "odd"
    return r["memory"], r["pass"], whole("in"), whole("out")


def conv_sizes(r):
    """The product that the convolution is: M output pixels, N output channels, K inputs of one output; and bytes."""
    b, cin, cout, h, w, kh, kw, stride = (int(r[c]) for c in "batch in out height width kernel_h kernel_w stride".split())
    pad = lambda k: k // 2 if k < 8 else 0  # as hw/shapes_grid.py runs them
    oh, ow = (h + 2 * pad(kh) - kh) // stride + 1, (w + 2 * pad(kw) - kw) // (stride if w > 1 else 1) + 1
    m, k = b * oh * ow, cin * kh * kw
    return m, cout, k, 2 * (b * h * w * cin + m * cout + k * cout)


def conv_model(p, m, n, k, size):
    launch, rate, bandwidth, edge, overhead = np.exp(p)
    b = np.where(n <= 32, 32, np.where(n <= 64, 64, 128))
    waves = np.ceil(np.ceil(m / 128) * np.ceil(n / b) / SMS)
    depth = np.ceil(k / 32) * 32
    return launch + np.maximum(waves * (2 * 128 * b * depth / rate * (1 + edge * (1 / 128 + 1 / b)) + overhead),
                               size / bandwidth)


def conv_fit(group, rows):
    m, n, k, size = np.array([conv_sizes(r) for r in rows], float).T
    start = np.log([5, 4e6 if group[2] == group[3] == "full" else 1.5e6, 2.5e6, 20, 1])
    return minimised(lambda p: conv_model(p, m, n, k, size), np.array([float(r["us"]) for r in rows]), start)


def attention_group(r):
    """The pass, whether the head size is a multiple of 8, and whether it is at most 256."""
    head = int(r["head_size"])
    return r["pass"], "full" if head % 8 == 0 else "odd", "small" if head <= 256 else "large"


def attention_model(p, scores, head, size):
    launch, per_score, per_product, bandwidth = np.exp(p)
    return launch + scores * (per_score + per_product * np.ceil(head / 64) * 64) + size / bandwidth


def attention_fit(group, rows):
    value = lambda c: np.array([float(r[c]) for r in rows])
    heads, length, head = value("batch") * value("heads"), value("length"), value("head_size")
    scores = heads * length ** 2 * np.where(value("causal") > 0, 0.5, 1)
    start = np.log([5, 3e-7, 5e-9, 3e6])
    return minimised(lambda p: attention_model(p, scores, head, 8 * heads * length * head), value("us"), start)


def write(path, lines):
    path = os.path.join(ROOT, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    print(path, len(lines))


def main(folders):
    header, rows = read(folders, "gemm.csv")
    note = header + ["# written by hw/shapes_table.py"]
    groups = collections.defaultdict(list)
    for r in rows:
        if r["set"] == "grid":
            groups[group_of(r)].append(r)
    lines, fits = [], []
    for group, members in sorted(groups.items()):
        constants = fit(group, members)
        fits.append(",".join(group) + "," + ",".join(f"{x:.5g}" for x in constants))
        members.sort(key=lambda r: (int(r["M"]), int(r["N"]), int(r["K"]), r["dtype"]))
        seen = set()
        for r in members:
            key = (r["M"], r["N"], r["K"])
            if key not in seen:  # one time for one size
                seen.add(key)
                lines.append(",".join(group) + f",{r['M']},{r['N']},{r['K']},{float(r['us']):.4g}")
    write("src/shapes/data/h200_gemm.csv", note + ["dtype,layout,ab,c,M,N,K,us"] + lines)
    write("src/shapes/data/h200_gemm_fit.csv",
          note + ["dtype,layout,ab,c,launch_us,flop_per_us_sm,bytes_per_us,tile_us,edge"] + fits)
    plain = "dtype,layout,M,N,K,lda,ldb,ldc,offset,us"
    for name in ("held", "pitch"):
        write(f"tests/shapes/data/h200_{name}.csv", note + [plain] +
              [",".join(r[c] for c in plain.split(",")) for r in rows if r["set"] == name])
    for name, group_of_row, fit_rows, constants in (
            ("conv", conv_group, conv_fit, "memory,pass,in,out,launch_us,flop_per_us_sm,bytes_per_us,edge,tile_us"),
            ("attention", attention_group, attention_fit,
             "pass,alignment,size,launch_us,us_per_score,us_per_product,bytes_per_us")):
        header, rows = read(folders[:-1], name + ".csv")
        more_header, more = read(folders[-1:], name + ".csv")
        held = more[::8]
        rows += [r for i, r in enumerate(more) if i % 8]
        note = header + more_header + ["# written by hw/shapes_table.py"]
        columns = [c for c in rows[0] if c != "spread"]
        line = lambda r: ",".join(r[c] for c in columns)
        groups = collections.defaultdict(list)
        for r in rows:
            groups[group_of_row(r)].append(r)
        write(f"src/shapes/data/h200_{name}.csv", note + [",".join(columns)] + sorted(map(line, rows)))
        write(f"src/shapes/data/h200_{name}_fit.csv", note + [constants] + [
            ",".join(group) + "," + ",".join(f"{x:.5g}" for x in fit_rows(group, members))
            for group, members in sorted(groups.items())])
        write(f"tests/shapes/data/h200_held_{name}.csv", note + [",".join(columns)] + list(map(line, held)))


if __name__ == "__main__":
    main(sys.argv[1:])
