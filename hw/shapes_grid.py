#!/usr/bin/env python3
"""Times matrix products, convolutions and attention over a grid of sizes and alignments on a real GPU.

    hw/shapes_grid.py --out FOLDER [--part 1|2|3] [--seconds N] [--only SECTION,...] [--dry]

Writes to FOLDER, each with the conditions in `#` lines at its top, rows appended as they are measured:

    gemm.csv       set,dtype,layout,M,N,K,lda,ldb,ldc,offset,us,spread
    conv.csv       dtype,memory,pass,batch,in,out,height,width,kernel_h,kernel_w,stride,us,spread
    attention.csv  dtype,pass,causal,batch,heads,length,head_size,us,spread

`hw/shapes_table.py` makes of them the files that src/shapes embeds and the held-back set that its test reads.

A product is C[M,N] = A[M,K] B[K,N], all row-major; layout NT stores B as [N,K] (a linear layer's forward pass), NN as
written (its gradient by the input), TN stores A as [K,M] (its gradient by the weight). lda, ldb, ldc are row pitches
in elements, `offset` moves every base address by so many elements. What runs is PyTorch's own call (torch.mm,
torch._scaled_mm, torch._int_mm, conv2d, scaled_dot_product_attention), so the library's heuristics decide as they do
for a user. Time is GPU time of one call: a CUDA graph of several calls over different operands (together larger than
the L2 cache, up to 64 of them) is replayed; `us` is the median replay divided by the calls, in microseconds,
`spread` (largest - smallest) / median over the replays. Operands are random normal numbers.

Part 1 is everything, part 2 more products where part 1 is thin, part 3 more of the rest. Points are drawn once from a fixed seed and shuffled so that a run cut short by --seconds still covers every section
evenly. --dry draws and prints the points and touches no GPU.
"""
import argparse
import collections
import datetime
import math
import os
import random
import subprocess
import sys
import time
import traceback

UNIT = {"bf16": 8, "fp16": 8, "tf32": 4, "fp32": 4, "fp8": 16, "int8": 16}  # elements in 16 bytes
BYTES = {"bf16": 2, "fp16": 2, "tf32": 4, "fp32": 4, "fp8": 1, "int8": 1}
OUT_BYTES = {"bf16": 2, "fp16": 2, "tf32": 4, "fp32": 4, "fp8": 2, "int8": 4}
# Rough rates that only choose how many calls go into one graph (TFLOP/s aligned, unaligned).
RATE = {"bf16": (600, 120), "fp16": (600, 120), "tf32": (330, 110), "fp32": (45, 45), "fp8": (1000, 1000),
        "int8": (1000, 1000)}
L2_BYTES_TO_EXCEED = 150e6
MAX_CALLS = 64
TIMED_REPLAYS = 5

Gemm = collections.namedtuple("Gemm", "set dtype layout M N K lda ldb ldc offset")
Conv = collections.namedtuple("Conv", "dtype memory step batch cin cout h w kh kw stride")
Attention = collections.namedtuple("Attention", "dtype step causal batch heads length head")


def pitches(layout, m, n, k):
    """Row pitches of A, B and C as stored, for operands without gaps."""
    return {"NN": (k, n, n), "NT": (k, k, n), "TN": (m, n, n)}[layout]


def gemm(kind, dtype, layout, m, n, k, pad=0, offset=0):
    lda, ldb, ldc = pitches(layout, m, n, k)
    if pad:
        lda, ldb, ldc = (-(-x // pad) * pad for x in (lda, ldb, ldc))
    return Gemm(kind, dtype, layout, m, n, k, lda, ldb, ldc, offset)


def flop(p):
    return 2.0 * p.M * p.N * p.K


def footprint(p):
    b = BYTES[p.dtype]
    rows_a, rows_b = (p.K if p.layout == "TN" else p.M), (p.N if p.layout == "NT" else p.K)
    return b * (rows_a * p.lda + rows_b * p.ldb) + OUT_BYTES[p.dtype] * p.M * p.ldc


def aligned(p):
    u = UNIT[p.dtype]
    return all(x % u == 0 for x in (p.lda, p.ldb, p.ldc, p.offset))


# ---------------------------------------------------------------------------------------------- points

def dimension(rng, low, high, state, unit):
    """A size between 2^low and 2^high, even in the logarithm. state: a multiple of `unit`, even but not a
    multiple, odd, or any."""
    x = 2 ** rng.uniform(low, high)
    if rng.random() < 0.5:  # sizes people choose
        x = 2 ** round(math.log2(x)) * rng.choice((1, 1, 1.25, 1.5, 1.75, 0.75))
        x = min(max(x, 2 ** low), 2 ** high)
    x = int(round(x))
    if state == "any":
        return max(1, x)
    x = max(unit, int(round(x / unit)) * unit)
    if state == "a":
        return x
    if state == "e":
        return x + rng.choice([e for e in range(2, unit, 2)]) - (unit if x > unit and rng.random() < 0.5 else 0)
    return x + rng.choice((1, -1, 3, -3, unit - 1) if unit > 4 else (1, -1))


def draw(rng, kind, dtype, layout, states, pad=0, offset=0, cap=None):
    """`states`: for NT and NN of (N, K), for TN of (M, N); the third size is in no pitch and may be any."""
    unit = UNIT[dtype]
    bad = any(s != "a" for s in states)
    if cap is None:
        cap = {"bf16": (3e12, 9e11), "fp16": (3e12, 9e11), "tf32": (1.5e12, 7e11), "fp32": (3e11, 3e11),
               "fp8": (4e12, 4e12), "int8": (4e12, 4e12)}[dtype][1 if bad else 0]
    while True:
        wide = 17.6 if rng.random() < 0.25 else 14.5
        if layout == "NT":
            m, n, k = (dimension(rng, 0, 15, "any", 1), dimension(rng, 5, wide, states[0], unit),
                       dimension(rng, 5, 14.5, states[1], unit))
        elif layout == "NN":
            m, n, k = (dimension(rng, 0, 15, "any", 1), dimension(rng, 5, 14.5, states[0], unit),
                       dimension(rng, 5, wide, states[1], unit))
        else:
            m, n, k = (dimension(rng, 5, wide, states[0], unit), dimension(rng, 5, 14.5, states[1], unit),
                       dimension(rng, 4, 15, "any", 1))
        if dtype == "int8":
            m = max(m, 17)
        p = gemm(kind, dtype, layout, m, n, k, pad, offset)
        if flop(p) <= cap and footprint(p) <= 1.2e9:
            return p


def grid_points(rng):
    points = []

    def add(count, *arguments, **keywords):
        points.extend(draw(rng, "grid", *arguments, **keywords) for _ in range(count))

    unaligned_16 = {("o", "a"): 190, ("a", "o"): 150, ("o", "o"): 130, ("e", "a"): 110, ("a", "e"): 100,
                    ("e", "e"): 70, ("o", "e"): 45, ("e", "o"): 45}
    for layout, count in (("NT", 850), ("NN", 600), ("TN", 600)):
        add(count, "bf16", layout, ("a", "a"))
        for states, some in unaligned_16.items():
            add(some, "bf16", layout, states)
            add(max(8, some // 10), "fp16", layout, states)
        add(45, "bf16", layout, ("o", "o"), pad=8)
        for offset in (1, 2, 4):
            add(12, "bf16", layout, ("a", "a"), offset=offset)
        add(80, "fp16", layout, ("a", "a"))
        add(170, "tf32", layout, ("a", "a"))
        for states, some in {("o", "a"): 70, ("a", "o"): 60, ("o", "o"): 50, ("e", "a"): 40, ("a", "e"): 40,
                             ("e", "e"): 20}.items():
            add(some, "tf32", layout, states)
        add(60, "fp32", layout, ("a", "a"))
        add(40, "fp32", layout, ("o", "o"))
    add(260, "fp8", "NT", ("a", "a"))
    add(180, "int8", "NT", ("a", "a"))
    return points


def second_part(rng):
    """More where the first part left the largest errors, wide outputs as of vocabularies, sizes people choose, and
    operands of which only the pitch or only the extent is a multiple of 16 bytes."""
    points = []

    def add(count, *arguments, **keywords):
        points.extend(draw(rng, "grid", *arguments, **keywords) for _ in range(count))

    combinations = [(a, b) for a in "aeo" for b in "aeo" if (a, b) != ("a", "a")]
    few = {"NT": {("e", "a"): 110, ("o", "e"): 140, ("e", "o"): 140, ("a", "e"): 90, ("e", "e"): 90, ("o", "o"): 60,
                  ("a", "o"): 90, ("o", "a"): 60},
           "NN": {("a", "e"): 100, ("e", "o"): 120, ("o", "e"): 120, ("e", "a"): 40, ("a", "o"): 60},
           "TN": {("o", "e"): 120, ("e", "o"): 60, ("e", "a"): 60, ("a", "e"): 40}}
    for layout in ("NT", "NN", "TN"):
        add(200, "bf16", layout, ("a", "a"))
        for states, count in few[layout].items():
            add(count, "bf16", layout, states)
        for states in combinations:
            add(75, "fp16", layout, states)
        add(130, "tf32", layout, ("a", "a"))
        for states in (("o", "a"), ("a", "o"), ("o", "o"), ("e", "a"), ("a", "e")):
            add(50, "tf32", layout, states)
            add(25, "fp32", layout, states)
        add(60, "fp32", layout, ("a", "a"))
        for _ in range(250):  # sizes of models: multiples of 64, any number of tokens
            while True:
                tokens = 2 ** rng.randint(0, 15) if rng.random() < 0.4 else max(1, int(2 ** rng.uniform(0, 15)))
                out, inp = (64 * int(2 ** rng.uniform(2, 8.5)) for _ in range(2))
                m, n, k = {"NT": (tokens, out, inp), "NN": (tokens, inp, out), "TN": (out, inp, tokens)}[layout]
                p = gemm("grid", "bf16", layout, m, n, k)
                if flop(p) <= 3e12 and footprint(p) <= 1.2e9:
                    break
            points.append(p)
        for state, count in (("a", 60), ("e", 50), ("o", 70)):  # vocabularies
            for _ in range(count):
                while True:
                    tokens = 2 ** rng.randint(0, 14) if rng.random() < 0.4 else max(1, int(2 ** rng.uniform(0, 14)))
                    out, inp = dimension(rng, 14.5, 18, state, 8), 64 * int(2 ** rng.uniform(2, 7))
                    m, n, k = {"NT": (tokens, out, inp), "NN": (tokens, inp, out), "TN": (out, inp, tokens)}[layout]
                    p = gemm("grid", rng.choice(("bf16", "bf16", "fp16")), layout, m, n, k)
                    if flop(p) <= (4e12 if state == "a" else 1.2e12) and footprint(p) <= 1.6e9:
                        break
                points.append(p)
        for states in (("o", "a"), ("a", "o"), ("e", "a"), ("a", "e")):  # extents off, pitches padded
            add(20, "bf16", layout, states, pad=8)
        for _ in range(40):  # extents fit, pitches do not
            p = draw(rng, "pitch", "bf16", layout, ("a", "a"), cap=9e11)
            which = rng.choice(("lda", "ldb", "ldc"))
            points.append(p._replace(**{which: getattr(p, which) + rng.choice((1, 2, 4))}))
    add(120, "fp8", "NT", ("a", "a"))
    add(100, "int8", "NT", ("a", "a"))
    return points


def small_point(rng):
    """Wide strides that are powers of two against neighbours of the same product."""
    points = []
    for dtype in ("bf16", "fp32"):
        for layout in ("NT", "NN", "TN"):
            for m, n, k in ((4096, 4096, 4096), (8192, 1024, 8192), (512, 8192, 8192), (16, 8192, 8192)):
                base = pitches(layout, m, n, k)
                for extra in (0, 8, 64):
                    points.append(Gemm("pitch", dtype, layout, m, n, k, *(x + extra for x in base), 0))
    return points


# Output and input features of linear layers of published models (their configs), and a few that people made.
LINEAR = [(50257, 768), (50257, 1024), (50257, 1600), (2304, 768), (768, 768), (3072, 768), (768, 3072), (4800, 1600),
          (6400, 1600), (1600, 6400), (30522, 768), (30522, 1024), (1024, 1024), (4096, 1024), (1024, 4096),
          (50265, 768), (50265, 1024), (250002, 768), (250002, 1024), (51865, 384), (51865, 512), (51865, 768),
          (51864, 1024), (51866, 1280), (51865, 1280), (1280, 1280), (5120, 1280), (1280, 5120), (1536, 384),
          (4096, 4096), (14336, 4096), (4096, 14336), (6144, 4096), (28672, 4096), (128256, 4096), (32000, 4096),
          (11008, 4096), (4096, 11008), (5120, 5120), (13824, 5120), (8192, 8192), (151936, 896), (151936, 1024),
          (151936, 1536), (896, 896), (4864, 896), (896, 4864), (8960, 1536), (1536, 8960), (152064, 3584),
          (18944, 3584), (3584, 18944), (3584, 3584), (12288, 4096), (151936, 4096), (32001, 4096), (32003, 4096),
          (128257, 2048), (128256, 2048), (8192, 2048), (32001, 2048), (50258, 1024), (50260, 768), (21841, 1024),
          (21843, 768), (1000, 2048), (1001, 2048), (1000, 768), (10, 4096), (3, 1024), (1023, 1023), (2047, 512),
          (511, 2047), (999, 4095), (4095, 4095), (257, 1025), (513, 4096), (4096, 513), (100, 300), (300, 300),
          (1500, 300), (33278, 200), (267735, 1024), (65, 384), (4098, 4096), (4100, 4094), (7001, 512), (5000, 250),
          (25, 4096), (4096, 25), (333, 777), (12345, 678), (1356, 1356), (681, 2724), (85, 85), (170, 510)]


def held_back_points(rng):
    """Sizes that no fit sees: linear layers of models and random ones; unaligned ones with their padded twins."""
    pairs = []
    for dtype, count in (("bf16", 330), ("fp16", 60), ("tf32", 90), ("fp32", 36), ("fp8", 40)):
        made = 0
        while made < count:
            layout = "NT" if dtype == "fp8" else rng.choice(("NT", "NT", "NN", "TN"))
            tokens = 2 ** rng.randint(0, 15) if rng.random() < 0.4 else max(1, int(2 ** rng.uniform(0, 15)))
            if rng.random() < 0.65:
                out, inp = rng.choice(LINEAR)
                m, n, k = {"NT": (tokens, out, inp), "NN": (tokens, inp, out), "TN": (out, inp, tokens)}[layout]
                p = gemm("held", dtype, layout, m, n, k)
            else:
                states = ("a", "a") if rng.random() < 0.5 else (rng.choice("aeo"), rng.choice("aoo"))
                p = draw(rng, "held", dtype, layout, states)
            if dtype == "fp8" and not aligned(p):
                continue
            cap = {"bf16": 2.5e12, "fp16": 2.5e12, "tf32": 1.2e12, "fp32": 3e11, "fp8": 4e12}[dtype]
            if flop(p) > (cap if aligned(p) else min(cap, 1.2e12)) or footprint(p) > 1.2e9:
                continue
            made += 1
            group = [p]
            if not aligned(p):
                up = lambda x: -(-x // UNIT[dtype]) * UNIT[dtype]
                twin = {"NT": (p.M, up(p.N), up(p.K)), "NN": (p.M, up(p.N), up(p.K)),
                        "TN": (up(p.M), up(p.N), p.K)}[layout]
                group.append(gemm("held", dtype, layout, *twin))
            pairs.append(group)
    return pairs


def conv_points(rng):
    points = []
    channels = (8, 16, 24, 31, 32, 33, 48, 63, 64, 65, 72, 80, 96, 100, 127, 128, 129, 160, 192, 250, 255, 256, 257,
                264, 320, 384, 511, 512)
    side = lambda c: 112 if c <= 96 else 56 if c <= 264 else 28

    def add(dtype, memory, step, batch, cin, cout, h, w, kh, kw, stride=1):
        points.append(Conv(dtype, memory, step, batch, cin, cout, h, w, kh, kw, stride))

    for c in channels:
        s = side(c)
        add("fp16", "nhwc", "forward", 32, c, c, s, s, 3, 3)
        add("fp16", "nhwc", "forward", 32, c, c, s, s, 1, 1)
        add("fp16", "nhwc", "forward", 32, c, 128, s, s, 3, 3)
        add("fp16", "nhwc", "forward", 32, 128, c, s, s, 3, 3)
        add("fp16", "nhwc", "forward", 8, c, c, s // 2, s // 2, 3, 3)
        if c in (31, 32, 63, 64, 96, 100, 127, 128, 129, 192, 255, 256, 257, 511, 512):
            add("bf16", "nhwc", "forward", 32, c, c, s, s, 3, 3)
            add("bf16", "nhwc", "forward", 32, c, 2 * c, s, s, 1, 1)
            add("fp16", "nchw", "forward", 32, c, c, s, s, 3, 3)
            add("fp16", "nhwc", "forward", 16, c, c, s, s, 3, 3, 2)
            for step in ("input_gradient", "weight_gradient"):
                add("fp16", "nhwc", step, 32, c, c, s, s, 3, 3)
                add("fp16", "nhwc", step, 32, c, c, s, s, 1, 1)
    for dtype in ("fp16", "bf16"):
        for cin, cout, s, k, stride in ((3, 64, 224, 7, 2), (4, 64, 224, 7, 2), (8, 64, 224, 7, 2), (3, 64, 224, 3, 1),
                                        (3, 768, 224, 16, 16), (3, 1024, 224, 14, 14), (3, 96, 224, 4, 4),
                                        (4, 320, 64, 3, 1), (320, 4, 64, 3, 1), (8, 320, 64, 3, 1)):
            for memory in ("nhwc", "nchw"):
                add(dtype, memory, "forward", 32, cin, cout, s, s, k, k, stride)
        for cin, cout in ((80, 384), (80, 512), (80, 768), (80, 1024), (80, 1280), (128, 1280)):
            for batch in (1, 8):  # Whisper: the width is 1
                add(dtype, "nchw", "forward", batch, cin, cout, 3000, 1, 3, 1)
                add(dtype, "nchw", "forward", batch, cout, cout, 3000, 1, 3, 1, 2)
    for _ in range(60):  # random
        cin, cout = (max(1, int(2 ** rng.uniform(3, 9.5))) for _ in range(2))
        if rng.random() < 0.5:
            cin, cout = -(-cin // 8) * 8, -(-cout // 8) * 8
        s = rng.choice((7, 14, 28, 56, 112))
        k = rng.choice((1, 3, 3, 5))
        add("fp16", "nhwc", "forward", rng.choice((1, 4, 16, 32)), cin, cout, s, s, k, k, rng.choice((1, 1, 2)))
    return points


def third_part(rng):
    """Random convolutions and attention, an eighth of which hw/shapes_table.py holds back for the tests."""
    points = []
    for step, memory, count in (("forward", "nhwc", 900), ("forward", "nchw", 350), ("input_gradient", "nhwc", 330),
                                ("weight_gradient", "nhwc", 330)):
        while count > 0:
            cin, cout = (2 ** rng.uniform(3, 10) for _ in range(2))
            if rng.random() < 0.4:
                cin = 2 ** round(math.log2(cin)) * rng.choice((1, 1, 1.5))
                cout = cin * rng.choice((0.25, 0.5, 1, 1, 1, 2, 4))
            cin, cout = (max(8, round(c / 8) * 8) for c in (cin, cout))
            what = rng.random()
            off = lambda c: max(3, c + rng.choice((-1, 1, -2, 2, -4, 4, -1)))
            if what < 0.25:
                cin, cout = off(cin), off(cout)
            elif what < 0.37:
                cin = rng.choice((3, 4, off(cin), off(cin)))
            elif what < 0.5:
                cout = off(cout)
            side, k, batch = rng.choice((7, 14, 28, 56, 112, 224, 32, 64)), rng.choice((1, 1, 3, 3, 3, 5, 7)), \
                rng.choice((1, 2, 4, 8, 16, 32, 64))
            stride = rng.choice((1, 1, 1, 2))
            work = 2.0 * batch * (side / stride) ** 2 * cin * cout * k * k
            if work > 4e11 or batch * side * side * max(cin, cout) > 2e8:
                continue
            points.append(Conv(rng.choice(("fp16", "fp16", "bf16")), memory, step, batch, cin, cout, side, side, k, k,
                               stride))
            count -= 1
    for _ in range(160):
        batch, heads, length = 2 ** rng.randint(0, 5), rng.choice((8, 12, 16, 20, 32, 40)), 2 ** rng.randint(7, 12)
        head = rng.choice((64, 64, 80, 96, 128, 128, 192, 256, rng.randint(16, 256), rng.randint(4, 32) * 8))
        if batch * heads * length ** 2 * head < 6e10:
            points.append(Attention(rng.choice(("bf16", "fp16")), rng.choice(("forward", "forward", "forward_backward")),
                                    rng.randint(0, 1), batch, heads, length, head))
    rng.shuffle(points)
    return points


def attention_points(rng):
    points = []
    sizes = (16, 24, 32, 40, 48, 56, 60, 63, 64, 65, 68, 72, 80, 88, 96, 100, 104, 112, 120, 127, 128, 129, 136, 144, 160,
             176, 192, 200, 208, 224, 240, 255, 256, 257, 264, 288, 320, 512)
    for d in sizes:
        for batch, heads, length in ((4, 32, 2048), (8, 16, 1024), (16, 12, 512)):
            points.append(Attention("bf16", "forward", 1, batch, heads, length, d))
        points.append(Attention("bf16", "forward", 0, 4, 32, 2048, d))
        if d <= 320:
            points.append(Attention("bf16", "forward_backward", 1, 4, 16, 2048, d))
        if d in (63, 64, 80, 100, 128, 256):
            points.append(Attention("fp16", "forward", 1, 4, 32, 2048, d))
            points.append(Attention("bf16", "forward", 1, 1, 16, 8192, d))
    return points


def all_points(part):
    if part == 3:
        return third_part(random.Random(20240919))
    if part == 2:
        rng = random.Random(20240918)
        points = second_part(rng) + [p for group in held_back_points(rng) for p in group]
        random.Random(2).shuffle(points)
        return points
    rng = random.Random(20240917)
    keyed = []

    def spread(groups, low, high):
        """Random keys, evenly over [low, high): the order in which everything is measured."""
        groups = list(groups)
        rng.shuffle(groups)
        for i, group in enumerate(groups):
            keyed.append((low + (high - low) * i / len(groups), group))

    spread(([p] for p in grid_points(rng)), 0.0, 1.0)
    spread(held_back_points(rng), 0.0, 0.8)
    spread(([p] for p in small_point(rng)), 0.2, 0.5)
    spread(([p] for p in conv_points(rng)), 0.05, 0.6)
    spread(([p] for p in attention_points(rng)), 0.05, 0.6)
    keyed.sort(key=lambda item: item[0])
    return [p for _, group in keyed for p in group]


# ------------------------------------------------------------------------------------------- measuring

class Gpu:
    def __init__(self):
        import torch
        self.torch = torch
        torch.backends.cudnn.benchmark = False
        self.stream = torch.cuda.Stream()
        self.pool_handle = torch.cuda.graph_pool_handle()
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(TIMED_REPLAYS + 1)]
        self.dtypes = {"bf16": torch.bfloat16, "fp16": torch.float16, "tf32": torch.float32, "fp32": torch.float32,
                       "fp8": torch.float8_e4m3fn, "int8": torch.int8}
        self.out_dtypes = dict(self.dtypes, fp8=torch.bfloat16, int8=torch.int32)
        self.pools = {}
        self.at = 0
        self.one = torch.ones((), device="cuda")
        # Graphs share one memory pool, which lives as long as some graph of it does.
        self.keeper = torch.cuda.CUDAGraph()
        with torch.cuda.stream(self.stream):
            self.keeper.capture_begin(pool=self.pool_handle, capture_error_mode="relaxed")
            self.kept = self.one + 1
            self.keeper.capture_end()

    def pool(self, which, dtype):
        """3 GB of random numbers of a type; operands are windows into it."""
        torch = self.torch
        key = (which, dtype)
        if key not in self.pools:
            size = torch.empty((), dtype=dtype).element_size()
            count = int(3e9) // size
            if dtype in (torch.float16, torch.bfloat16, torch.float32):
                data = torch.empty(count, device="cuda", dtype=dtype).normal_()
            elif dtype == torch.int8:
                data = torch.randint(-60, 60, (count,), device="cuda", dtype=dtype)
            elif dtype == torch.int32:
                data = torch.zeros(count, device="cuda", dtype=dtype)
            else:
                data = torch.empty(count, device="cuda", dtype=dtype)
                step = 1 << 26
                for i in range(0, count, step):
                    n = min(step, count - i)
                    data[i:i + n].copy_(torch.empty(n, device="cuda", dtype=torch.bfloat16).normal_())
            self.pools[key] = data
        return self.pools[key]

    def window(self, which, dtype, rows, pitch, columns, offset):
        pool = self.pool(which, dtype)
        need = (rows * pitch + offset + 255) // 256 * 256
        if self.at + need > pool.numel():
            self.at = 0
        start = self.at
        self.at += need
        return pool.as_strided((rows, columns), (pitch, 1), start + offset)

    def time(self, call, calls):
        """call(i) launches the work of copy i. Returns microseconds of one call, and the spread."""
        torch = self.torch
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            for i in range(min(2, calls)):
                call(i)
            self.stream.synchronize()
            graph = torch.cuda.CUDAGraph()
            graph.capture_begin(pool=self.pool_handle, capture_error_mode="relaxed")
            try:
                for i in range(calls):
                    call(i)
            finally:
                graph.capture_end()
            graph.replay()
            self.events[0].record()
            for event in self.events[1:]:
                graph.replay()
                event.record()
            self.stream.synchronize()
            times = sorted(a.elapsed_time(b) for a, b in zip(self.events, self.events[1:]))
            graph.reset()
        middle = times[len(times) // 2]
        return middle * 1000 / calls, (times[-1] - times[0]) / middle

    def gemm(self, p):
        torch = self.torch
        dtype, out_dtype = self.dtypes[p.dtype], self.out_dtypes[p.dtype]
        guess_us = max(2.5, footprint(p) / 4e6, flop(p) / RATE[p.dtype][0 if aligned(p) else 1] / 1e6)
        calls = calls_for(guess_us, footprint(p))
        torch.set_float32_matmul_precision("high" if p.dtype == "tf32" else "highest")
        sets = []
        for _ in range(calls):
            if p.layout == "TN":
                a = self.window("in", dtype, p.K, p.lda, p.M, p.offset).t()
            else:
                a = self.window("in", dtype, p.M, p.lda, p.K, p.offset)
            if p.layout == "NT":
                b = self.window("in", dtype, p.N, p.ldb, p.K, p.offset).t()
            else:
                b = self.window("in", dtype, p.K, p.ldb, p.N, p.offset)
            sets.append((a, b, self.window("out", out_dtype, p.M, p.ldc, p.N, p.offset)))
        if p.dtype == "fp8":
            run = lambda i: torch._scaled_mm(sets[i][0], sets[i][1], scale_a=self.one, scale_b=self.one,
                                             out_dtype=torch.bfloat16, use_fast_accum=True,
                                             out=sets[i][2])
        elif p.dtype == "int8":
            run = lambda i: torch._int_mm(sets[i][0], sets[i][1], out=sets[i][2])
        else:
            run = lambda i: torch.mm(sets[i][0], sets[i][1], out=sets[i][2])
        return self.time(run, calls)

    def conv(self, p):
        torch = self.torch
        dtype = self.dtypes[p.dtype]
        torch.set_float32_matmul_precision("highest")
        memory = torch.channels_last if p.memory == "nhwc" else torch.contiguous_format
        oh, ow = -(-p.h // p.stride), -(-p.w // p.stride)
        padding = (p.kh // 2 if p.kh < 8 else 0, p.kw // 2 if p.kw < 8 else 0)
        work = 2.0 * p.batch * oh * ow * p.cout * p.cin * p.kh * p.kw
        size = 2.0 * p.batch * (p.h * p.w * p.cin + oh * ow * p.cout)
        calls = min(24, calls_for(max(4, size / 4e6, work / 400e6), size))
        sets = []
        for _ in range(calls):
            x = torch.randn(p.batch, p.cin, p.h, p.w, device="cuda", dtype=dtype).to(memory_format=memory)
            w = torch.randn(p.cout, p.cin, p.kh, p.kw, device="cuda", dtype=dtype).to(memory_format=memory)
            sets.append([x, w])
        stride = (p.stride, p.stride if p.w > 1 else 1)
        conv = torch.nn.functional.conv2d
        if p.step == "forward":
            return self.time(lambda i: conv(*sets[i], stride=stride, padding=padding), calls)
        for s in sets:
            s.append(torch.randn_like(conv(*s, stride=stride, padding=padding)))
        mask = [p.step == "input_gradient", p.step == "weight_gradient", False]
        return self.time(lambda i: torch.ops.aten.convolution_backward(
            sets[i][2], sets[i][0], sets[i][1], None, stride, padding, (1, 1), False, (0, 0), 1, mask), calls)

    def attention(self, p):
        torch = self.torch
        dtype = self.dtypes[p.dtype]
        back = p.step != "forward"
        work = 4.0 * p.batch * p.heads * p.length ** 2 * p.head * (0.5 if p.causal else 1) * (3.5 if back else 1)
        size = 8.0 * p.batch * p.heads * p.length * p.head
        calls = min(8, calls_for(max(5, size / 4e6, work / 300e6), size))
        sets = [[torch.randn(p.batch, p.heads, p.length, p.head, device="cuda", dtype=dtype, requires_grad=back)
                 for _ in range(3)] for _ in range(calls)]
        attend = lambda i: torch.nn.functional.scaled_dot_product_attention(*sets[i], is_causal=bool(p.causal))
        if not back:
            return self.time(attend, calls)
        upstream = torch.randn(p.batch, p.heads, p.length, p.head, device="cuda", dtype=dtype)
        return self.time(lambda i: torch.autograd.grad(attend(i), sets[i], upstream), calls)


def calls_for(guess_us, size):
    """Calls in one graph: operands beyond the L2 cache, and 250 us at least; fewer where one call is long."""
    want = max(math.ceil(L2_BYTES_TO_EXCEED / max(size, 1)), math.ceil(250 / guess_us))
    return int(max(1, min(want, MAX_CALLS, 4000 / guess_us)))


def conditions(torch):
    def smi():
        query = "name,driver_version,clocks.sm,clocks.mem,power.draw,temperature.gpu"
        try:
            return subprocess.run(["nvidia-smi", "--query-gpu=" + query, "--format=csv,noheader"],
                                  capture_output=True, text=True, timeout=10).stdout.strip()
        except Exception:
            return "nvidia-smi did not answer"
    p = torch.cuda.get_device_properties(0)
    return (f"# {p.name}, {p.multi_processor_count} SMs; PyTorch {torch.__version__}, CUDA {torch.version.cuda}, "
            f"cuDNN {torch.backends.cudnn.version()}; {datetime.date.today()}\n"
            f"# nvidia-smi (name, driver, SM clock, memory clock, power, temperature): {smi()}\n"
            f"# GPU time of one call, CUDA graph replay, median of {TIMED_REPLAYS}, operands beyond the L2 cache\n")


COLUMNS = {
    "gemm": "set,dtype,layout,M,N,K,lda,ldb,ldc,offset,us,spread",
    "conv": "dtype,memory,pass,batch,in,out,height,width,kernel_h,kernel_w,stride,us,spread",
    "attention": "dtype,pass,causal,batch,heads,length,head_size,us,spread",
}


def section_of(p):
    return {Gemm: "gemm", Conv: "conv", Attention: "attention"}[type(p)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=".")
    parser.add_argument("--part", type=int, choices=(1, 2, 3), default=1)
    parser.add_argument("--seconds", type=float, default=270)
    parser.add_argument("--only", default="gemm,conv,attention")
    parser.add_argument("--dry", action="store_true")
    arguments = parser.parse_args()
    start = time.time()
    points = [p for p in all_points(arguments.part) if section_of(p) in arguments.only.split(",")]
    if arguments.dry:
        counts = collections.Counter()
        guess = 0.0
        for p in points:
            name = section_of(p)
            if name == "gemm":
                t = max(2.5, footprint(p) / 3e6, flop(p) / RATE[p.dtype][0 if aligned(p) else 1] / 1e6)
                guess += (TIMED_REPLAYS + 1) * t * calls_for(t, footprint(p)) + 2 * t
                name += f" {p.set} {p.dtype} {p.layout} {'aligned' if aligned(p) else 'unaligned'}"
            counts[name] += 1
        for name, count in sorted(counts.items()):
            print(f"{count:6} {name}")
        print(f"{len(points)} points, about {guess / 1e6:.0f} s of products alone")
        return
    gpu = Gpu()
    torch = gpu.torch
    os.makedirs(arguments.out, exist_ok=True)
    files = {}
    for name in arguments.only.split(","):
        files[name] = open(os.path.join(arguments.out, name + ".csv"), "w")
        files[name].write(conditions(torch) + COLUMNS[name] + "\n")
    print(f"{len(points)} points; ready after {time.time() - start:.1f} s", flush=True)
    errors = collections.Counter()
    spent = collections.Counter()
    done = 0
    shown = 10
    for p in points:
        now = time.time()
        if now - start > arguments.seconds:
            break
        name = section_of(p)
        try:
            us, spread = getattr(gpu, name)(p)
        except Exception as error:  # a size the library refuses is a fact too; a dead GPU is the end
            errors[f"{name} {getattr(p, 'dtype', '')}: {str(error)[:160]}"] += 1
            if errors.total() <= 3:
                traceback.print_exc()
            if done == 0 and errors.total() >= 30:
                print("nothing works; stopping", flush=True)
                break
            try:
                torch.cuda.synchronize()
            except Exception:
                print("the GPU does not answer any more; stopping", flush=True)
                break
            continue
        fields = [str(int(f) if isinstance(f, bool) else f) for f in p]
        files[name].write(",".join(fields) + f",{us:.4g},{spread:.3f}\n" if us < 1000 else
                          ",".join(fields) + f",{us:.1f},{spread:.3f}\n")
        spent[name] += time.time() - now
        done += 1
        if now - start > shown:
            shown += 15
            for file in files.values():
                file.flush()
            print(f"{now - start:.0f} s: {done} of {len(points)}; " +
                  ", ".join(f"{k} {v:.0f} s" for k, v in spent.items()), flush=True)
    for file in files.values():
        file.write(conditions(torch).splitlines()[1] + " (at the end)\n")
        file.close()
    print(f"{done} of {len(points)} points in {time.time() - start:.0f} s; " +
          ", ".join(f"{k} {v:.0f} s" for k, v in spent.items()))
    for message, count in errors.most_common(20):
        print(f"{count} x {message}")


if __name__ == "__main__":
    sys.exit(main())
