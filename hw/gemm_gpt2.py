#!/usr/bin/env python3
"""Training steps of GPT-2 small in plain PyTorch eager mode: run once as it is and once under LD_PRELOAD.

    hw/gemm_gpt2.py [--vocab 50257] [--steps 30] [--batch 8] [--seed 1] [--reversed] [--padded] [--csv FILE --label NAME]

Random tokens, sequence 1024, bf16 autocast over fp32 weights, AdamW (fused). Prints the median milliseconds of a
step (after five) and the loss of each step; --csv appends `label,vocab,seed,step,ms,loss`.
"""
import argparse
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (y.view(b, t, self.heads, c // self.heads).transpose(1, 2)
                   for y in self.qkv(self.ln1(x)).split(c, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.down(F.gelu(self.up(self.ln2(x)), approximate="tanh"))


class GPT2(nn.Module):
    def __init__(self, vocab, padded=False, width=768, layers=12, heads=12, length=1024):
        super().__init__()
        self.vocab, self.padding = vocab, -vocab % 64 if padded else 0
        self.tokens, self.places = nn.Embedding(vocab, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.ln = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)
        self.head.weight = self.tokens.weight
        for p in self.parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02)

    def forward(self, x, targets):
        h = self.tokens(x) + self.places(torch.arange(x.shape[1], device=x.device))
        for block in self.blocks:
            h = block(h)
        if self.padding > 0:
            logits = F.linear(self.ln(h), F.pad(self.head.weight, (0, 0, 0, self.padding)))[..., :self.vocab]
        else:
            logits = self.head(self.ln(h))
        return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocab", type=int, default=50257)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reversed", action="store_true",
                        help="the sequences of each batch in reversed order: the same loss and gradients but for the "
                             "order of their sums")
    parser.add_argument("--padded", action="store_true",
                        help="rows of zeros up to a multiple of 64 below the head's weights, and their logits cut off: "
                             "the same loss and gradients by cuBLAS's kernels for aligned sizes")
    parser.add_argument("--csv")
    parser.add_argument("--label", default="plain")
    a = parser.parse_args()
    torch.manual_seed(a.seed)
    model = GPT2(a.vocab, a.padded).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    generator = torch.Generator(device="cuda").manual_seed(a.seed)
    # A few batches again and again, so that the loss falls and a wrong gradient would show.
    data = torch.randint(min(a.vocab, 50257), (4, a.batch, 1025), device="cuda", generator=generator)
    times, losses = [], []
    for step in range(a.steps):
        batch = data[step % len(data)]
        if a.reversed:
            batch = batch.flip(0)
        torch.cuda.synchronize()
        start = time.perf_counter()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(batch[:, :-1], batch[:, 1:])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1e3)
        losses.append(loss.item())
    middle = sorted(times[5:])[len(times[5:]) // 2]
    print(f"{a.label}: vocabulary {a.vocab}, seed {a.seed}: {middle:.2f} ms a step; losses "
          + " ".join(f"{x:.4f}" for x in losses[::max(1, a.steps // 8)]))
    if a.csv:
        with open(a.csv, "a") as f:
            for step, (ms, loss) in enumerate(zip(times, losses)):
                f.write(f"{a.label},{a.vocab},{a.seed},{step},{ms:.3f},{loss:.6f}\n")


if __name__ == "__main__":
    main()
