#!/usr/bin/env python3
"""Small valid inputs and word lists for the fuzz targets: make_seeds.py FOLDER writes FOLDER/TARGET/* and
FOLDER/TARGET.dict. Everything is made here or taken from the tests' own files; nothing comes from a model."""
import json
import pathlib
import re
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_BYTES = 40_000  # of a seed: longer ones only slow the fuzzer down

# ---- shapes

CONFIGS = [
    {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12,
     "n_positions": 1024, "vocab_size": 50257},
    {"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "num_attention_heads": 32,
     "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 32000, "torch_dtype": "bfloat16",
     "quantization_config": {"bits": 4, "group_size": 128, "quant_method": "gptq"}},
    {"model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432, "moe_intermediate_size": 2048,
     "num_attention_heads": 128, "num_hidden_layers": 61, "vocab_size": 129280, "n_routed_experts": 256,
     "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3, "q_lora_rank": 1536,
     "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
     "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}},
    {"model_type": "whisper", "d_model": 384, "decoder_attention_heads": 6, "decoder_ffn_dim": 1536,
     "decoder_layers": 4, "encoder_attention_heads": 6, "encoder_ffn_dim": 1536, "encoder_layers": 4,
     "max_source_positions": 1500, "num_mel_bins": 80, "vocab_size": 51865},
    {"model_type": "t5", "d_model": 512, "d_kv": 64, "d_ff": 2048, "num_layers": 6, "num_decoder_layers": 6,
     "num_heads": 8, "vocab_size": 32128, "feed_forward_proj": "gated-gelu"},
    {"model_type": "vit", "hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12,
     "num_hidden_layers": 12, "image_size": 224, "patch_size": 16, "num_channels": 3},
    {"architectures": ["BertForSequenceClassification"], "model_type": "bert", "hidden_size": 768,
     "intermediate_size": 3072, "num_attention_heads": 12, "num_hidden_layers": 12, "vocab_size": 30522,
     "id2label": {"0": "a", "1": "b"}},
    {"model_type": "novel", "hidden_act": "silu", "text_config": {"hidden_size": 8, "num_attention_heads": 2}},
]


def safetensors(header):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text


SAFETENSORS = [
    safetensors({"__metadata__": {"format": "pt"},
                 "model.embed_tokens.weight": {"dtype": "BF16", "shape": [50257, 768], "data_offsets": [0, 8]},
                 "model.layers.0.self_attn.q_proj.weight": {"dtype": "BF16", "shape": [768, 768],
                                                            "data_offsets": [8, 16]},
                 "model.layers.0.self_attn.k_proj.weight": {"dtype": "BF16", "shape": [256, 768],
                                                            "data_offsets": [8, 16]},
                 "model.layers.0.mlp.down_proj.weight": {"dtype": "F16", "shape": [768, 5461],
                                                         "data_offsets": [16, 24]}}),
    safetensors({"features.0.conv.weight": {"dtype": "F32", "shape": [255, 3, 7, 7], "data_offsets": [0, 8]},
                 "h.0.attn.c_attn.weight": {"dtype": "F32", "shape": [768, 2304], "data_offsets": [0, 8]},
                 "l.qweight": {"dtype": "I32", "shape": [512, 4096], "data_offsets": [0, 8]},
                 "l.scales": {"dtype": "F16", "shape": [32, 4096], "data_offsets": [0, 8]}}),
    json.dumps({"metadata": {"total_size": 8}, "weight_map": {"a.weight": "model-00001-of-00002.safetensors",
                                                              "b.weight": "model-00002-of-00002.safetensors"}}).encode(),
]


def gguf_text(text):
    return struct.pack("<Q", len(text)) + text.encode()


def gguf(pairs, tensors):
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs))
    for key, value in pairs:
        out += gguf_text(key)
        if isinstance(value, str):
            out += struct.pack("<I", 8) + gguf_text(value)
        elif isinstance(value, list) and isinstance(value[0], str):
            out += struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(gguf_text, value))
        elif isinstance(value, list):
            out += struct.pack("<IIQ", 9, 4, len(value)) + struct.pack(f"<{len(value)}I", *value)
        elif isinstance(value, float):
            out += struct.pack("<If", 6, value)
        else:
            out += struct.pack("<II", 4, value)
    for name, sizes, kind in tensors:
        out += gguf_text(name) + struct.pack("<I", len(sizes)) + struct.pack(f"<{len(sizes)}Q", *sizes)
        out += struct.pack("<IQ", kind, 0)
    return out


GGUF = [
    gguf([("general.architecture", "llama"), ("llama.embedding_length", 4096), ("llama.block_count", 2),
          ("llama.attention.head_count", 32), ("llama.attention.head_count_kv", [8, 8]),
          ("llama.feed_forward_length", 11008), ("llama.context_length", 4096), ("llama.rope.freq_base", 1e4),
          ("tokenizer.ggml.tokens", ["a", "b", "c"])],
         [("token_embd.weight", [4096, 32001], 12), ("blk.0.attn_q.weight", [4096, 4096], 12),
          ("blk.0.ffn_gate.weight", [4096, 11008], 8), ("blk.0.attn_norm.weight", [4096], 0)]),
    gguf([("general.architecture", "qwen3moe"), ("qwen3moe.embedding_length", 2048), ("qwen3moe.block_count", 2),
          ("qwen3moe.attention.head_count", 32), ("qwen3moe.expert_count", 128), ("qwen3moe.expert_used_count", 8),
          ("qwen3moe.expert_feed_forward_length", 768), ("qwen3moe.vocab_size", 151936)], []),
    gguf([("general.name", "no architecture")], [("a.weight", [32, 32], 2)]),
]


def varint(value):
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def onnx_value(name, sizes):
    dims = b"".join(field(1, field(1, s) if isinstance(s, int) else field(2, s.encode())) for s in sizes)
    return field(1, name.encode()) + field(2, field(1, field(1, 1) + field(2, dims)))


class Graph(bytes):  # as the value of an attribute
    pass


class Reference(str):  # to an attribute of a function's call
    pass


def onnx_attribute(name, value):  # a list, a number, a word, a tensor's bytes, a Graph or a Reference
    if isinstance(value, Graph):
        parts = field(6, value)
    elif isinstance(value, Reference):
        parts = field(21, value.encode())
    elif isinstance(value, list):
        parts = b"".join(field(8, v) for v in value)
    else:
        parts = field({int: 3, str: 4, bytes: 5}[type(value)], value.encode() if isinstance(value, str) else value)
    return field(1, name.encode()) + parts


def onnx_node(kind, inputs, output, attributes=()):  # `output`: several with spaces between
    return (b"".join(field(1, i.encode()) for i in inputs) + b"".join(field(2, o.encode()) for o in output.split()) +
            field(4, kind.encode()) + b"".join(field(5, onnx_attribute(n, value)) for n, value in attributes))


def onnx_tensor(name, sizes, elements=None):  # with `elements` of int64
    data = b"" if elements is None else field(9, struct.pack(f"<{len(elements)}q", *elements))
    return b"".join(field(1, s) for s in sizes) + field(2, 1 if elements is None else 7) + field(8, name.encode()) + data


def onnx(nodes, tensors, inputs):
    graph = b"".join(field(1, n) for n in nodes) + b"".join(field(5, t) for t in tensors)
    return field(1, 8) + field(7, graph + b"".join(field(11, i) for i in inputs))


def onnx_body(nodes, inputs, outputs):
    return Graph(b"".join(field(1, n) for n in nodes) + b"".join(field(11, field(1, i.encode())) for i in inputs) +
                 b"".join(field(12, field(1, o.encode())) for o in outputs))


def onnx_function(name, inputs, outputs, nodes):
    return field(25, field(1, name.encode()) + b"".join(field(4, i.encode()) for i in inputs) +
                 b"".join(field(5, o.encode()) for o in outputs) + b"".join(field(7, n) for n in nodes))


LOOP = onnx_body([onnx_node("Identity", ["on"], "go"), onnx_node("MatMul", ["s", "w"], "n"),
                  onnx_node("Concat", ["g", "n"], "h", [("axis", 0)]), onnx_node("Identity", ["n"], "p")],
                 ["i", "on", "s", "g"], ["go", "n", "h", "p"])
BRANCH = onnx_body([onnx_node("MatMul", ["y", "w"], "r"),
                    onnx_node("Loop", ["seven", "", "r", "x"], "a b c", [("body", LOOP)])], [], ["a"])
SCAN = onnx_body([onnx_node("MatMul", ["q", "w"], "n"), onnx_node("Add", ["n", "h"], "m"), onnx_node("Identity", ["m"], "o")],
                 ["h", "q"], ["m", "o"])

ONNX = [
    onnx([onnx_node("MatMul", ["x", "w"], "y"),
          onnx_node("If", ["flag"], "z", [("then_branch", BRANCH), ("else_branch", onnx_body([], [], ["y"]))]),
          onnx_node("If", ["seven"], "u", [("then_branch", onnx_body([], [], ["y"])), ("else_branch", BRANCH)]),
          onnx_node("Loop", ["count", "flag", "y", "x"], "d e f", [("body", LOOP)]),
          onnx_node("Scan", ["x", "t"], "k l", [("body", SCAN), ("num_scan_inputs", 1), ("scan_input_axes", [1])]),
          onnx_node("Twice", ["l"], "v", [("shape", [6, 24])]),
          onnx_node("Conv", ["c", "cw"], "co", [("strides", [2, 1, 1])])],
         [onnx_tensor("w", [24, 24]), onnx_tensor("seven", [], [7]), onnx_tensor("cw", [8, 3, 2, 3, 3])],
         [onnx_value("x", ["batch", 24]), onnx_value("flag", []), onnx_value("count", []),
          onnx_value("t", [5, 9, 24]), onnx_value("c", [1, 3, 4, 9, 9])]) +
    onnx_function("Once", ["a", "w"], ["b"], [onnx_node("Constant", [], "c", [("value_ints", Reference("to"))]),
                                             onnx_node("Reshape", ["a", "c"], "d"), onnx_node("MatMul", ["d", "w"], "b")]) +
    onnx_function("Twice", ["a"], ["c"], [onnx_node("Once", ["a", "a"], "b", [("to", Reference("shape"))]),
                                         onnx_node("Once", ["b", "b"], "c", [("to", [2, 3])])]),
    onnx([onnx_node("Conv", ["x", "w"], "y", [("kernel_shape", [3, 3]), ("pads", [1, 1, 1, 1]), ("strides", [2, 2])]),
          onnx_node("Relu", ["y"], "z"),
          onnx_node("Conv", ["z", "d"], "u", [("group", 255), ("kernel_shape", [3, 3])]),
          onnx_node("GlobalAveragePool", ["u"], "p"), onnx_node("Flatten", ["p"], "f"),
          onnx_node("Gemm", ["f", "g"], "o", [("transB", 1)])],
         [onnx_tensor("w", [255, 3, 3, 3]), onnx_tensor("d", [255, 1, 3, 3]), onnx_tensor("g", [1000, 255])],
         [onnx_value("x", ["batch", 3, 224, 224])]),
    onnx([onnx_node("MatMul", ["x", "w"], "q"), onnx_node("MatMul", ["q", "k"], "s")],
         [onnx_tensor("w", [768, 768])],
         [onnx_value("x", ["batch", "sequence", 768]), onnx_value("k", [1, 768, 65])]),
    onnx([onnx_node("Gather", ["words", "ids"], "x"), onnx_node("Shape", ["x"], "s"),
          onnx_node("Constant", [], "c", [("value", onnx_tensor("", [], [1]))]), onnx_node("Gather", ["s", "c"], "l"),
          onnx_node("Unsqueeze", ["l", "zero"], "u"), onnx_node("Concat", ["minus", "u", "heads"], "t", [("axis", 0)]),
          onnx_node("Reshape", ["x", "t"], "r"), onnx_node("Transpose", ["r"], "q", [("perm", [0, 2, 1, 3])]),
          onnx_node("Transpose", ["r"], "k", [("perm", [0, 2, 3, 1])]), onnx_node("MatMul", ["q", "k"], "p"),
          onnx_node("Softmax", ["p"], "m"), onnx_node("MatMul", ["m", "q"], "o"),
          onnx_node("ReduceMean", ["o"], "n", [("axes", [2]), ("keepdims", 0)])],
         [onnx_tensor("words", [1000, 96]), onnx_tensor("zero", [1], [0]), onnx_tensor("minus", [1], [-1]),
          onnx_tensor("heads", [2], [4, 24])], [onnx_value("ids", ["batch", "past_sequence_length + 1"])]),
    onnx([onnx_node("Split", ["x"], "a b", [("axis", 2)]), onnx_node("Slice", ["a", "one", "end", "one"], "c"),
          onnx_node("Einsum", ["b", "c"], "d", [("equation", "bid,bjd->bij")]),
          onnx_node("Pad", ["d", "pads"], "e"), onnx_node("Expand", ["e", "wide"], "f"),
          onnx_node("LSTM", ["x", "w", "r"], "y h"), onnx_node("Equal", ["one", "end"], "g"),
          onnx_node("Where", ["g", "one", "end"], "i"), onnx_node("Range", ["i", "end", "one"], "j"),
          onnx_node("MultiHeadAttention", ["a", "b", "b"], "k", [("num_heads", 4)]), onnx_node("Tile", ["one", "one"], "l"),
          onnx_node("ConstantOfShape", ["wide"], "m"), onnx_node("Resize", ["z", "", "", "pads"], "n"),
          onnx_node("ConvTranspose", ["z", "v"], "o", [("strides", [2, 2]), ("auto_pad", "SAME_UPPER")])],
         [onnx_tensor("one", [1], [1]), onnx_tensor("end", [1], [1 << 62]), onnx_tensor("pads", [6], [0, 1, 2, 0, 1, 2]),
          onnx_tensor("wide", [3], [2, 1, 7]), onnx_tensor("w", [1, 200, 64]), onnx_tensor("r", [1, 200, 50]),
          onnx_tensor("v", [8, 4, 2, 2])],
         [onnx_value("x", [12, "N", 64]), onnx_value("z", ["N", 8, "height", 9])]),
]

LT = ("[2025-11-03 19:02:38][cublasLt][557785][Trace][cublasLtMatmul] A=0X7F3CB315E800 Adesc=[type=R_16BF "
      "rows=768 cols=2304 ld=768] B=0X7F3C9B644002 Bdesc=[type=R_16BF rows=768 cols=1024 ld=768] C=0X0 "
      "Cdesc=[type=R_16BF rows=2304 cols=1024 ld=2304] D=0X7F3CB30A4400 Ddesc=[type=R_16BF rows=2304 cols=1024 "
      "ld=2304] computeDesc=[computeType=COMPUTE_32F scaleType=R_32F transa=OP_T] algo=[algoId=66] beta=0\n")
CUBLAS = ("I! cuBLAS (v13.4.1) function cublasStatus_t cublasSgemm_v2(cublasHandle_t, ...) called:\n"
          "i!  transa: type=cublasOperation_t; val=CUBLAS_OP_T(1)\ni!  transb: type=cublasOperation_t; "
          "val=CUBLAS_OP_N(0)\ni!  m: type=int; val=51865\ni!  n: type=int; val=448\ni!  k: type=int; val=384\n"
          "i!  A: type=float; val=POINTER (IN HEX:0x0x504e20400)\ni!  lda: type=int; val=384\ni!  B: type=float; "
          "val=POINTER (IN HEX:0x0x504e20604)\ni!  ldb: type=int; val=384\ni!  C: type=float; val=POINTER "
          "(IN HEX:0x0x504e20c00)\ni!  ldc: type=int; val=51865\ni!  batchCount: type=int; val=12\n")
LISTS = [
    "# a comment\n4096,4095,4096,bf16\n\n1, 2, 3, fp16, NT\n5,6,7,tf32,8,9,10\n5,6,7,fp32,5,8,8,TN\n64,64,64,fp8,NT\n",
    "dtype,calls,K,N,M,other,trans,ldc,a_bytes,name,batch\nbf16,12,768,50257,8192,x,NT,50304,2,head,3\n",
    "M,N,K,batch,dtype,trans,lda,ldb,ldc,calls,time_us,choice,plain_us,aligned_us,pad\n"
    "2304,1024,768,1,bf16,TN,768,768,2304,24,12.5,plain,12.0,12.0,\n",
]

# ---- the checker

LAUNCHES = [
    "n = 1024; in = f32[n * n] : uniform(7)\nout = f32[n * n]\nk<<<(n / 32, n / 32), (32, 8)>>>(in, out, n)\n"
    "expect out ~ f32[4] : iota (rtol 1e-5, atol 0)\nsave out -> out.npy\nprint out[0:8]\n",
    "symbol w = f32[9] : @weights.npy; a = bf16[3] : below(9, 2); ns::k<float, 3><<<{1, 2, 3}, dim3(32), 48 << 10>>>"
    "(&a[1], {1.5, a}, -0x1p3, true, nullptr)\n# comment\n",
]


def npy(kind, shape, data, version=1):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return (b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(header)) +
            header.encode() + data)


NPY = [npy("<f4", "(3,)", bytes(12)), npy("<i8", "(2, 2)", bytes(32)), npy("|V2", "()", bytes(2)),
       npy("<f2", "(2, 1)", bytes(4), 2), npy("|b1", "(0,)", b"")]


def launch_seeds():
    for path in sorted((ROOT / "examples").rglob("*.cu")):
        lines = [line for line in path.read_text().splitlines() if "fullwarp" in line]
        yield "\n".join(lines).encode()
        yield re.sub(r"^.*fullwarp: ?", "", "\n".join(lines), flags=re.M).encode()


def ptx_seeds():
    for path in sorted(ROOT.glob("tests/**/*.ptx")):
        data = path.read_bytes()
        if len(data) <= MOST_BYTES:
            yield data


def words(text):
    return sorted(set(re.findall(r"[A-Za-z_.$@%][A-Za-z0-9_.]+", text)))


SEEDS = {
    "shapes_config_fuzz": [json.dumps(c).encode() for c in CONFIGS],
    "shapes_safetensors_fuzz": SAFETENSORS,
    "shapes_gguf_fuzz": GGUF,
    "shapes_onnx_fuzz": ONNX,
    "shapes_log_fuzz": [(LT + LT).encode(), CUBLAS.encode(), (CUBLAS + LT + CUBLAS).encode()],
    "shapes_list_fuzz": [text.encode() for text in LISTS],
    "launch_fuzz": [text.encode() for text in LAUNCHES] + list(launch_seeds()),
    "npy_fuzz": NPY,
    "ptx_fuzz": list(ptx_seeds()),
}


def quoted(source):  # string literals of a C++ file
    return [w for w in re.findall(r'"([A-Za-z0-9_.\-]{2,40})"', (ROOT / "src" / source).read_text())]


DICTIONARIES = {
    "shapes_config_fuzz": quoted("shapes/read_config.cpp"),
    "shapes_safetensors_fuzz": quoted("shapes/tensors.cpp") + ["dtype", "shape", "__metadata__", "weight_map"],
    "shapes_gguf_fuzz": quoted("shapes/read_gguf.cpp"),
    "shapes_onnx_fuzz": [w for f in ("graph", "rules_attention", "rules_constants", "rules_elements", "rules_movement", "rules_products",
                                     "rules_windows") for w in quoted(f"shapes/onnx_{f}.cpp")],
    "shapes_log_fuzz": words(LT + CUBLAS) + quoted("shapes/read_cublas_log.cpp"),
    "shapes_list_fuzz": words("".join(LISTS)) + quoted("shapes/read_list.cpp"),
    "launch_fuzz": words("".join(LAUNCHES)) + ["<<<", ">>>", "uninit", "zero", "i8", "u16", "f64", "fullwarp:"],
    "npy_fuzz": ["descr", "fortran_order", "shape", "<f8", "<u4", "|i1", "True"],
    "ptx_fuzz": words("\n".join((ROOT / "src/ptx" / n).read_text() for n in ("instructions.def", "modifiers.def"))),
}


def main():
    folder = pathlib.Path(sys.argv[1])
    for target, seeds in SEEDS.items():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for i, seed in enumerate(seeds):
            (folder / target / f"seed{i:03}").write_bytes(seed)
    for target, entries in DICTIONARIES.items():
        lines = [f'"{word}"' for word in sorted(set(entries)) if '"' not in word and "\\" not in word]
        (folder / f"{target}.dict").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
