#!/usr/bin/env python3
"""How long `fullwarp shapes` takes for the headers of a large model: bench/shapes_header.py PROGRAM [FOLDER]

Makes a model with the tensors of DeepSeek-V2 (236 billion parameters, 472 GB in bf16, 55 shards, 28 000 tensors)
in FOLDER or a temporary one: real safetensors headers, index and config.json; the weights are holes in the files, so
that they take no space. Then judges it three times with its config and three times without, and prints wall time, CPU
time and peak memory (resident set) of each run, by wait4(). Bar: under a second and 100 MB.
"""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

HIDDEN, LAYERS, HEADS, EXPERTS, WIDTH, EXPERT_WIDTH = 5120, 60, 128, 160, 12288, 1536
CONFIG = {
    "architectures": ["DeepseekV2ForCausalLM"], "model_type": "deepseek_v2", "hidden_size": HIDDEN,
    "intermediate_size": WIDTH, "moe_intermediate_size": EXPERT_WIDTH, "num_attention_heads": HEADS,
    "num_hidden_layers": LAYERS, "n_routed_experts": EXPERTS, "n_shared_experts": 2, "num_experts_per_tok": 6,
    "first_k_dense_replace": 1, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 102400, "torch_dtype": "bfloat16",
}


def tensors():
    yield "model.embed_tokens.weight", [102400, HIDDEN]
    for layer in range(LAYERS):
        at = f"model.layers.{layer}."
        yield at + "input_layernorm.weight", [HIDDEN]
        yield at + "post_attention_layernorm.weight", [HIDDEN]
        yield at + "self_attn.q_a_proj.weight", [1536, HIDDEN]
        yield at + "self_attn.q_b_proj.weight", [HEADS * 192, 1536]
        yield at + "self_attn.kv_a_proj_with_mqa.weight", [576, HIDDEN]
        yield at + "self_attn.kv_b_proj.weight", [HEADS * 256, 512]
        yield at + "self_attn.o_proj.weight", [HIDDEN, HEADS * 128]
        if layer == 0:
            parts = [("mlp.", WIDTH)]
        else:
            yield at + "mlp.gate.weight", [EXPERTS, HIDDEN]
            parts = [(f"mlp.experts.{expert}.", EXPERT_WIDTH) for expert in range(EXPERTS)]
            parts.append(("mlp.shared_experts.", 2 * EXPERT_WIDTH))
        for name, width in parts:
            yield at + name + "gate_proj.weight", [width, HIDDEN]
            yield at + name + "up_proj.weight", [width, HIDDEN]
            yield at + name + "down_proj.weight", [HIDDEN, width]
    yield "model.norm.weight", [HIDDEN]
    yield "lm_head.weight", [102400, HIDDEN]


def make(folder):
    """Writes the shards; returns their bytes and the number of tensors."""
    shards, current, size = [], {}, 0
    for name, shape in tensors():
        length = 2
        for extent in shape:
            length *= extent
        if size + length > 8_600_000_000:
            shards.append((current, size))
            current, size = {}, 0
        current[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [size, size + length]}
        size += length
    shards.append((current, size))
    weights = {}
    for i, (header, size) in enumerate(shards):
        file = f"model-{i + 1:05}-of-{len(shards):05}.safetensors"
        text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
        with open(folder / file, "wb") as out:
            out.write(struct.pack("<Q", len(text)) + text)
            out.truncate(8 + len(text) + size)  # a hole
        weights.update({name: file for name in header})
    total = sum(size for _, size in shards)
    index = {"metadata": {"total_size": total}, "weight_map": weights}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2))
    (folder / "config.json").write_text(json.dumps(CONFIG, indent=2))
    return total, len(weights), len(shards)


def measure(program, folder):
    begin = time.monotonic()
    process = subprocess.Popen([program, "shapes", folder, "--rows", "1"], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    print(f"  wall {wall:.3f} s, CPU {usage.ru_utime + usage.ru_stime:.3f} s, "
          f"peak memory {usage.ru_maxrss / 1000:.1f} MB, exit code {os.waitstatus_to_exitcode(status)}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as name:
        folder = pathlib.Path(name)
        total, count, shards = make(folder)
        print(f"{total / 1e9:.0f} GB in {shards} shards, {count} tensors")
        print("with config.json:")
        for _ in range(3):
            measure(sys.argv[1], folder)
        (folder / "config.json").unlink()
        print("tensors alone:")
        for _ in range(3):
            measure(sys.argv[1], folder)


if __name__ == "__main__":
    main()
