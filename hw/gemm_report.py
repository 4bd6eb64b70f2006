#!/usr/bin/env python3
"""Holds gemm_bench's CSV to the issue's bars: hw/gemm_report.py gemm/measured/gemm.csv [--cases]

A cliff case is one where cuBLAS runs below 60 % of the next aligned size's speed (2 M N K over time, each its own).
`gain` is cuBLAS's time over ours, `of aligned` our speed over the aligned size's.
"""
import csv
import math
import sys

ROWS = [r for r in csv.DictReader(line for line in open(sys.argv[1]) if not line.startswith("#"))]


def read(r):
    m, n, k = (int(r[x]) for x in "MNK")
    cublas, aligned, ours = (float(r[x]) for x in ("cublas_us", "aligned_us", "ours_us"))
    up = [-(-x // 8) * 8 for x in (m, n, k)]
    aligned_speed = up[0] * up[1] * up[2] / aligned
    return {"r": r, "m": m, "n": n, "k": k, "gain": cublas / ours, "of": m * n * k / ours / aligned_speed,
            "cliff": m * n * k / cublas < 0.6 * aligned_speed, "cublas": cublas, "ours": ours}


def kind(x):
    """odd, 2 mod 4, 4 mod 8 by the worst extent, and how many are off."""
    off = [v for v in (x["m"], x["n"], x["k"]) if v % 8]
    worst = min((v & -v for v in off), default=8)
    return worst, len(off)


CASES = [read(r) for r in ROWS]


def line(name, cases, aim):
    if not cases:
        return
    gain = math.exp(sum(math.log(c["gain"]) for c in cases) / len(cases))
    of = math.exp(sum(math.log(c["of"]) for c in cases) / len(cases))
    print(f"| {name} | {len(cases)} | {gain:.2f} | {min(c['gain'] for c in cases):.2f} | {100 * of:.0f} % | "
          f"{100 * min(c['of'] for c in cases):.0f} % | {aim} |")


print("| cases | count | gain, geometric mean | least | of aligned, geometric mean | least | goal |\n"
      "|---|---|---|---|---|---|---|")
for dtype in ("bf16", "fp16"):
    group = [c for c in CASES if c["r"]["type"] == dtype and c["r"]["group"].startswith("cliff") and c["cliff"]]
    for size in (4096, 8192):
        near = [c for c in group if c["r"]["group"] == f"cliff{size}"]
        line(f"{dtype}, one extent odd, around {size}", [c for c in near if kind(c) == (1, 1)],
             f"4 times; {85 if size == 4096 else 90} %")
        line(f"{dtype}, all odd, around {size}", [c for c in near if kind(c) == (1, 3)],
             f"4 times; {80 if size == 4096 else 90} %")
        line(f"{dtype}, one 2 mod 4 or 4 mod 8, around {size}", [c for c in near if kind(c)[0] in (2, 4) and kind(c)[1] == 1],
             "2.2 times; 85 %")
        line(f"{dtype}, all 2 mod 4 or 4 mod 8, around {size}", [c for c in near if kind(c)[0] in (2, 4) and kind(c)[1] == 3],
             "2.2 times; 85 %")
    for size in (1024, 2048):
        near = [c for c in group if c["r"]["group"] == f"cliff{size}"]
        line(f"{dtype}, one extent off, around {size}", [c for c in near if kind(c)[1] == 1], "never slower; 70 %")
        line(f"{dtype}, all off, around {size}", [c for c in near if kind(c)[1] == 3], "never slower; 70 %")
for name in ("k255", "n255"):
    line(name, [c for c in CASES if c["r"]["group"] == name and c["cliff"]], "2.5 times")
line("tf32, odd", [c for c in CASES if c["r"]["group"] == "tf32" and c["cliff"]], "2.2 times")
for name in ("vocab_forward", "vocab_dgrad", "vocab_wgrad"):
    rows = {int(c["r"]["M"]) if name == "vocab_wgrad" else int(c["r"]["N"]) if name == "vocab_forward" else
            int(c["r"]["K"]): c for c in CASES if c["r"]["group"] == name}
    odd, even = rows[50257], rows[50304]
    print(f"| {name}, 50257 | 1 | {odd['gain']:.2f} | {odd['gain']:.2f} | {100 * even['cublas'] / odd['ours']:.0f} % of "
          f"50304's time | | 85 % |")
rest = [c for c in CASES if not c["cliff"]]
line("no cliff (all others)", rest, "at least 0.97")
small = [c for c in CASES if max(c["m"], c["n"], c["k"]) <= 512]
line("512 and below", small, "at least 0.97")
slower = [c for c in CASES if c["gain"] < 0.97]
print(f"\n{len(CASES)} cases; {len(slower)} more than 3 % slower than cuBLAS:")
for c in slower:
    print("  ", ",".join(c["r"][x] for x in ("group", "type", "trans", "M", "N", "K", "lda", "ldb", "ldd", "cublas_us",
                                             "aligned_us", "ours_us", "staged_us", "fused_us", "predicted")))
if "--cases" in sys.argv:
    for c in CASES:
        if c["cliff"]:
            print(",".join(c["r"].values()), f"{c['gain']:.2f} {c['of']:.2f}")
