#!/usr/bin/env python3
"""cuDNN's time for the recipes' convolutions: fp32 without tensor cores, through PyTorch. hw/recipes_cudnn.py OUT.csv"""
import sys

import torch

torch.backends.cudnn.allow_tf32 = False
torch.backends.cudnn.benchmark = True


def measure(function, *arguments):
    for _ in range(3):
        function(*arguments)
    times = []
    for _ in range(9):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        function(*arguments)
        stop.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(stop) * 1e3)
    return sorted(times)[4]


with open(sys.argv[1], "w") as out:
    out.write("recipe,size,cudnn_us\n")
    for b, i, o, h, w in ((16, 64, 64, 112, 112), (16, 63, 65, 111, 113)):
        x, f = torch.randn(b, i, h, w, device="cuda"), torch.randn(o, i, 3, 3, device="cuda")
        out.write(f"conv3x3,{b}x{i}x{o}x{h}x{w},{measure(lambda: torch.conv2d(x, f, padding=1)):.1f}\n")
    for b, i, o, d, h, w in ((2, 16, 32, 64, 64, 64), (2, 15, 33, 63, 65, 67)):
        x, f = torch.randn(b, i, d, h, w, device="cuda"), torch.randn(o, i, 3, 3, 3, device="cuda")
        out.write(f"conv3d,{b}x{i}x{o}x{d}x{h}x{w},{measure(lambda: torch.conv3d(x, f, padding=1)):.1f}\n")
