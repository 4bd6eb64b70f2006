#!/usr/bin/env python3
"""Holds the preloaded library to double precision in PyTorch: run under LD_PRELOAD=libfullwarp_cublas.so.

Products as PyTorch makes them (mm, bmm, addmm with bias and activations, linear and its gradients, tf32, in-place
accumulation, CUDA graphs, side streams) at misaligned sizes; prints one line for each failure, and the time that a
call takes on the host for an aligned product.
"""
import sys
import time

import torch

torch.manual_seed(0)
failures = 0
cases = 0


def hold(name, got, want, bound):
    global failures, cases
    cases += 1
    error = ((got.double() - want).norm() / want.norm()).item()
    if not error < bound:
        failures += 1
        print(f"FAIL {name}: relative error {error:.2e} above {bound}")


def rand(*shape, dtype):
    return torch.randn(*shape, device="cuda").to(dtype)


BOUND = {torch.bfloat16: 4e-3, torch.float16: 6e-4, torch.float32: 6e-4}
torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
for dtype in (torch.bfloat16, torch.float16, torch.float32):
    for m, n, k in ((1023, 1023, 1023), (2047, 1001, 1999), (2048, 4095, 2048), (4096, 4096, 4095), (333, 2222, 1111),
                    (2500, 2501, 2502), (8192, 255, 1024)):
        a, b = rand(m, k, dtype=dtype), rand(k, n, dtype=dtype)
        want = a.double() @ b.double()
        hold(f"mm {dtype} {m} {n} {k}", a @ b, want, BOUND[dtype])
        hold(f"mm NT {dtype} {m} {n} {k}", a @ b.t().contiguous().t(), want, BOUND[dtype])
        hold(f"mm TN {dtype} {m} {n} {k}", a.t().contiguous().t() @ b, want, BOUND[dtype])
        bias = rand(n, dtype=dtype)
        hold(f"addmm {dtype} {m} {n} {k}", torch.addmm(bias, a, b), want + bias.double(), BOUND[dtype])
        hold(f"addmm relu {dtype} {m} {n} {k}", torch._addmm_activation(bias, a, b),
             (want + bias.double()).relu(), BOUND[dtype])
        c = rand(m, n, dtype=dtype)
        hold(f"beta {dtype} {m} {n} {k}", torch.addmm(c, a, b, beta=0.5, alpha=2.0),
             2 * want + 0.5 * c.double(), BOUND[dtype])
    a, b = rand(5, 777, 555, dtype=dtype), rand(5, 555, 999, dtype=dtype)
    hold(f"bmm {dtype}", torch.bmm(a, b), a.double() @ b.double(), BOUND[dtype])
    x, w = rand(3000, 1001, dtype=dtype).requires_grad_(), rand(2003, 1001, dtype=dtype).requires_grad_()
    y = torch.nn.functional.linear(x, w)
    g = torch.randn_like(y)
    y.backward(g)
    hold(f"dgrad {dtype}", x.grad, g.double() @ w.detach().double(), BOUND[dtype])
    hold(f"wgrad {dtype}", w.grad, g.double().t() @ x.detach().double(), BOUND[dtype])

a, b = rand(2047, 2047, dtype=torch.bfloat16), rand(2047, 2047, dtype=torch.bfloat16)
want = a.double() @ b.double()
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        y = a @ b
    hold("side stream", y, want, 4e-3)
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    out = a @ b
out.zero_()
graph.replay()
hold("graph", out, want, 4e-3)
one = torch.full((2047, 2047), float("nan"), device="cuda", dtype=torch.bfloat16)
hold("beta 0 over NaN", torch.mm(a, b, out=one), want, 4e-3)
nan = a.clone()
nan[5, 7] = float("nan")
y = nan @ b
cases += 1
if not (torch.isnan(y[5]).all() and not torch.isnan(y[:5]).any() and not torch.isnan(y[6:]).any()):
    failures += 1
    print("FAIL NaN does not spread as in cuBLAS")

a = rand(64, 64, dtype=torch.bfloat16)
out = torch.empty_like(a)
best = 1e9
for _ in range(20):
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(200):
        torch.mm(a, a, out=out)
    best = min(best, (time.perf_counter() - start) / 200)
    torch.cuda.synchronize()
print(f"gemm_preload: {cases} cases, {failures} failed; an aligned mm takes {best * 1e6:.2f} us on the host")
sys.exit(failures != 0)
