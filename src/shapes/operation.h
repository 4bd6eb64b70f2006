// What a model computes, as data: matrix products, convolutions, attention and table look-ups with their
// sizes. Readers and derive.h make operations, time_table.h says how long they take, advise.h judges them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace fullwarp::shapes {

enum class Dtype : uint8_t { bf16, fp16, tf32, fp32, fp8, int8 };

inline constexpr uint32_t kVectorBytes = 16;  // what tensor-core kernels copy at a time

uint32_t element_bytes(Dtype type);
uint32_t result_bytes(Dtype type);  // of an element of C: fp8 products give bf16, int8 products int32
// Elements in 16 bytes: 8 of 16 bits, 4 of 32, 16 of 8.
inline uint32_t vector_elements(Dtype type) { return kVectorBytes / element_bytes(type); }
std::string_view to_string(Dtype type);
Result<Dtype> dtype_named(
    std::string_view name);  // as --dtype and lists write it; also "float16", "R_16BF", ...
const std::vector<std::string>& dtype_names();

// C[M,N] = A[M,K] B[K,N], all row-major. The first letter T: A is stored as [K,M]; the second: B as [N,K].
// A linear layer y = x W^T with W[out,in] is nt forward, nn for the gradient of x, tn for that of W.
enum class Layout : uint8_t { nn, nt, tn, tt };
std::string_view to_string(Layout layout);  // "NN", ...

enum class Step : uint8_t { forward, input_gradient, weight_gradient };
std::string_view to_string(Step step);

struct Gemm {
  Dtype dtype = Dtype::bf16;
  Layout layout = Layout::nn;
  int64_t m = 1, n = 1, k = 1;
  int64_t lda = 1, ldb = 1, ldc = 1;  // row pitches as stored, in elements
  std::array<uint32_t, 3> base_bytes = {16, 16,
                                        16};  // power of two up to 16 that divides the address of A, B, C
  int64_t batch = 1;                          // independent products of this size in one call
  bool operator==(const Gemm&) const = default;
};

// The pitches of operands without gaps.
Gemm dense_gemm(Dtype dtype, Layout layout, int64_t m, int64_t n, int64_t k);
// The extents that lie along the rows of A, B and C as stored.
std::array<int64_t, 3> contiguous_extents(const Gemm& gemm);

struct Conv {
  Dtype dtype = Dtype::bf16;
  bool channels_last = true;
  Step step = Step::forward;
  int64_t batch = 1, in = 1, out = 1, height = 1, width = 1, kernel_h = 1, kernel_w = 1;
  int64_t stride_h = 1, stride_w = 1, groups = 1;
  int64_t out_height = 1, out_width = 1;
  int64_t depth = 1, kernel_d = 1, stride_d = 1, out_depth = 1;  // of a convolution over three dimensions
  bool operator==(const Conv&) const = default;
};

struct Attention {
  Dtype dtype = Dtype::bf16;
  bool backward = false;  // forward and backward together
  bool causal = true;
  int64_t batch = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1, head_size = 64;
  int64_t value_size = 0;  // of a head's values; 0: head_size
  int64_t window = 0;      // keys that a query sees at most; 0: all. Causal queries are the last of the keys
  bool operator==(const Attention&) const = default;
};

bool over_volumes(const Conv& conv);  // three dimensions, for which nothing was measured

double scores(
    const Attention& attention);  // pairs of query and key that are computed, of one head of one sequence
int64_t keys_read(const Attention& attention);  // that any query sees

struct Gather {  // rows of an embedding table
  Dtype dtype = Dtype::bf16;
  int64_t rows = 1, width = 1;
  bool operator==(const Gather&) const = default;
};

struct Operation {
  std::string name = {};  // "mlp.up", "output head"
  Step step = Step::forward;
  double count = 1;  // how often it runs in one pass over the model
  std::variant<Gemm, Conv, Attention, Gather> work = {};
  double weight_elements = 0;  // of its parameters, once per `count`; 0 for backward steps and activations
  std::string note = {};       // what was assumed; may be empty
  bool from_data = false;      // its first operand is the model's input, which needs no gradient
};

double flops(const Operation& operation);          // of one
double bytes(const Operation& operation);          // each operand and the result once, of one
std::string describe(const Operation& operation);  // "8192 x 50257 x 768, NT"

}  // namespace fullwarp::shapes
