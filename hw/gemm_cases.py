#!/usr/bin/env python3
"""Writes the cases of gemm_bench for the issue's bars: hw/gemm_cases.py [quick|full] > cases.csv"""
import itertools
import sys

FULL = len(sys.argv) > 1 and sys.argv[1] == "full"
TRANS = ["N,N", "N,T", "T,N", "T,T"]


def put(group, dtype, trans, m, n, k, *ld):
    print(",".join(str(x) for x in (group, dtype, trans, m, n, k, *ld)))


for size in (4096, 8192, 1024, 2048):
    for off in (1, 2, 4) + ((-1,) if FULL and size <= 4096 else ()):
        for dims in ("M", "N", "K", "MNK"):
            for trans in TRANS:
                if not FULL and trans == "T,T" and dims != "MNK":
                    continue
                m, n, k = (size - off if d in dims else size for d in "MNK")
                for dtype in ("bf16",) + (("fp16",) if FULL and trans in ("N,N", "T,N") else ()):
                    put(f"cliff{size}", dtype, trans, m, n, k)
for size in (4096, 8192):
    for trans in TRANS if FULL else ("N,N", "N,T"):
        for dims in ("N", "K", "MNK"):
            put("tf32", "tf32", trans, *(size - 1 if d in dims else size for d in "MNK"))
put("tf32", "tf32", "N,N", 4096, 4096, 4094)
for v in (50257, 50304):
    put("vocab_forward", "bf16", "N,T", 8192, v, 768)
    put("vocab_dgrad", "bf16", "N,N", 8192, 768, v)
    put("vocab_wgrad", "bf16", "T,N", v, 768, 8192)
for trans in TRANS:
    put("k255", "bf16", trans, 8192, 4096, 255)
    put("n255", "bf16", trans, 8192, 255, 4096)
for size in (64, 127, 128, 255, 256, 384, 511, 512, 640, 768, 769, 896, 1536, 1537, 3072, 3071):
    for trans in TRANS if FULL else ("N,N", "N,T"):
        put("small" if size <= 512 else "middle", "bf16", trans, size, size, size)
        put("small" if size <= 512 else "middle", "tf32", trans, size, size, size)
for size in (1024, 2048, 4096, 8192):
    for dtype in ("bf16", "tf32"):
        put("aligned", dtype, "N,N", size, size, size)
put("fp32", "fp32", "N,N", 4095, 4095, 4095)
# Which of the three pitches matters: only one misaligned, all extents a multiple of 8 or all odd.
for m, n, k in ((4096, 4096, 4096), (4095, 4095, 4095)):
    for lda, ldb, ldd in itertools.product((4096, 4097), repeat=3):
        put("pitch", "bf16", "N,N", m, n, k, lda, ldb, ldd)
