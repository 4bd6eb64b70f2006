// What a reader makes of a file: either architectures with their numbers (config.json, GGUF), or weights with
// their shapes (safetensors without a config), or products as they ran (logs, lists) or stand in a graph
// (ONNX). derive() turns all of them into operations for a batch, a sequence length and a parallel degree.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shapes/operation.h"

namespace fullwarp::shapes {

// Sizes beyond are refused by every reader, so that products of two fit 64 bits.
inline constexpr int64_t kMaxSize = int64_t{1} << 31;

// A number of the model that sizes follow from, by its name in the file ("vocab_size").
struct Number {
  std::string name;
  int64_t value = 0;
  uint32_t line = 0;        // of the file, from 1; 0: unknown
  bool adjustable = false;  // padding it is a sensible change
  std::string how;          // how to change it; {} stands for the new value
};

enum class Kind : uint8_t { decoder, encoder, encoder_decoder, speech, vision };

// A linear layer behind a stack, from its hidden size: pooler, classifier, projection.
struct HeadLayer {
  std::string name;
  std::string number;  // of the model, that gives its outputs; empty: `out`
  int64_t out = 0;
  bool per_token = false;  // else once a sequence
};

// One stack of layers; an encoder and the decoder that looks at it are one.
struct Architecture {
  std::string model_type;
  std::string prefix;  // of its numbers' names: "vision_config."; mostly empty
  Kind kind = Kind::decoder;
  bool causal = true;               // tokens see only those before them
  bool gated_mlp = true;            // gate and up, else one up
  bool fused_gate_up = false;       // gate and up are one product
  bool fused_qkv = false;           // one product for q, k and v
  bool latent_attention = false;    // queries, keys and values by way of narrow vectors, as in DeepSeek-V2
  bool transposed_weights = false;  // stored as [in, out]
  bool language_head = true;
  bool tied = false;                // the output head's weights are the embedding's
  bool shared_expert_gate = false;  // a product with one output scales the shared expert
  bool shared_width = false;        // encoder and decoder have one MLP width, `intermediate_size`
  int64_t class_tokens = 0;         // besides those of an image's patches
  int64_t dense_layers = 0;         // layers with a plain MLP in a model of experts
  int64_t expert_layers = 0;
  int64_t window_layers = 0;  // whose tokens see only `sliding_window` others
  std::vector<HeadLayer> heads;
};

// Groups of weights that share a scale: `in` consecutive elements of a row, `out` rows.
struct Quantization {
  std::string method;                 // "gptq", "Q4_K"
  int64_t bits = 0, in = 0, out = 0;  // 0: no such limit
  bool split_only = false;            // a layer may end within a block; a rank's part of it may not
};

enum class Split : uint8_t { none, columns, rows };  // tensor parallel: of a linear layer's outputs or inputs

struct Weight {
  std::string name;  // with * for the layer's number: "model.layers.*.mlp.up_proj.weight"
  double count = 1;
  int64_t out = 0, in = 0;
  bool transposed = false;  // stored as [in, out]
  bool embedding = false;   // looked up by token
  Split split = Split::none;
  int64_t kernel_h = 0, kernel_w = 0;  // of a convolution; 0: a linear layer
  int64_t groups = 1;                  // of a convolution; `in` are the channels of one
  bool flat = false;                   // a convolution over one dimension
  std::optional<Quantization> quantization;
};

// Attention between weights whose heads are known: one head has queries / heads elements.
struct HeadedWeights {
  std::string name;
  double count = 1;
  int64_t queries = 0, keys = 0;  // outputs of the q and the k projection
  int64_t heads = 0;
  bool causal = true;
  bool cross = false;  // keys of the encoder
};

struct Model {
  std::string file;
  std::string title;                        // "gpt2: 12 layers, hidden 768, ..."
  std::vector<Architecture> architectures;  // their numbers are `numbers`
  std::vector<Number> numbers;
  std::vector<Weight> weights;  // without an architecture
  std::vector<HeadedWeights> headed;
  std::vector<Operation> operations;  // as they ran, or those of a graph
  bool graph = false;                 // the operations are a forward pass: gradients can be derived
  bool open_axes = false;             // of the graph: its sizes follow from batch and sequence
  std::optional<Quantization> quantization;
  std::optional<Dtype> dtype;      // of the file's weights
  int64_t max_sequence = 0;        // 0: unknown
  std::vector<std::string> notes;  // what was assumed

  // The value of a number; 0 if there is none of this name.
  int64_t at(const std::string& name) const;
  const Number* find(const std::string& name) const;
  void set(Number number);
};

struct RunOptions {
  int64_t batch = 8;
  int64_t sequence = 1024;
  int64_t cached = 0;  // tokens of each sequence whose keys and values are in the cache already
  int64_t tensor_parallel = 1;
  bool backward = false;
  bool last_logits = false;  // the output head on one token of each sequence only
  Dtype dtype = Dtype::bf16;
  bool dtype_asked = false;  // by the user: it counts even where the file's weights have another
  int64_t heads = 0;         // of attention, where a file has weights but no config; 0: unknown
  std::map<std::string, int64_t> axes = {};  // of a graph: by their words, or "input:2" for its third axis
};

// A size that cannot work as asked: an error, not a slowdown.
struct Problem {
  std::string rule;  // "shape-parallel", "shape-quantization-block"
  std::string number;
  std::string message, fix;
};

struct Derived {
  std::vector<Operation> operations;
  std::vector<Problem> problems;
};

// Every operation of one pass over the model on one rank.
Derived derive(const Model& model, const RunOptions& run);

// The numbers whose change advise.h may propose: those of the architectures, else the sizes that the weights
// or operations have along rows, named by their value ("50257").
std::vector<Number> adjustable_numbers(const Model& model);

// The model with one number changed; a size of weights or operations changes wherever it stands.
Model with_number(const Model& model, const Number& number, int64_t value);

}  // namespace fullwarp::shapes
