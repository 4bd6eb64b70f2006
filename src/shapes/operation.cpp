#include "shapes/operation.h"

#include <fmt/format.h>

#include <algorithm>

namespace fullwarp::shapes {

namespace {

struct DtypeRow {
  Dtype type;
  uint32_t bytes, result_bytes;
  std::string_view name;
  std::vector<std::string_view> also;
};

// cuBLAS, safetensors, PyTorch and configs each have their own words.
const std::array<DtypeRow, 6>& dtype_rows() {
  static const std::array<DtypeRow, 6> rows = {{
      {Dtype::bf16, 2, 2, "bf16", {"bfloat16", "r_16bf", "cuda_r_16bf", "torch.bfloat16"}},
      {Dtype::fp16, 2, 2, "fp16", {"float16", "f16", "half", "r_16f", "cuda_r_16f", "torch.float16"}},
      {Dtype::tf32, 4, 4, "tf32", {"tensorfloat32"}},
      {Dtype::fp32, 4, 4, "fp32", {"float32", "f32", "float", "r_32f", "cuda_r_32f", "torch.float32"}},
      {Dtype::fp8,
       1,
       2,
       "fp8",
       {"float8_e4m3fn", "float8_e5m2", "f8_e4m3", "f8_e5m2", "r_8f_e4m3", "r_8f_e5m2", "e4m3", "e5m2"}},
      {Dtype::int8, 1, 4, "int8", {"i8", "s8", "r_8i", "cuda_r_8i"}},
  }};
  return rows;
}

const DtypeRow& row_of(Dtype type) { return dtype_rows()[static_cast<size_t>(type)]; }

double product(std::initializer_list<int64_t> factors) {
  double result = 1;
  for (int64_t factor : factors) result *= static_cast<double>(factor);
  return result;
}

double conv_flops(const Conv& c) {
  return 2 *
         product({c.batch, c.out_depth, c.out_height, c.out_width, c.out, c.kernel_d, c.kernel_h, c.kernel_w,
                  c.in}) /
         static_cast<double>(c.groups);
}

double conv_bytes(const Conv& c) {
  return element_bytes(c.dtype) *
         (product({c.batch, c.depth, c.height, c.width, c.in}) +
          product({c.batch, c.out_depth, c.out_height, c.out_width, c.out}) +
          product({c.in, c.out, c.kernel_d, c.kernel_h, c.kernel_w}) / static_cast<double>(c.groups));
}

}  // namespace

uint32_t element_bytes(Dtype type) { return row_of(type).bytes; }
uint32_t result_bytes(Dtype type) { return row_of(type).result_bytes; }
std::string_view to_string(Dtype type) { return row_of(type).name; }

Result<Dtype> dtype_named(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const DtypeRow& row : dtype_rows())
    if (row.name == lower || std::find(row.also.begin(), row.also.end(), lower) != row.also.end())
      return row.type;
  return Error{.message = "unknown data type `" + std::string(name.substr(0, 40)) + "`",
               .hint = "one of bf16, fp16, tf32, fp32, fp8, int8"};
}

const std::vector<std::string>& dtype_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const DtypeRow& row : dtype_rows()) all.emplace_back(row.name);
    return all;
  }();
  return names;
}

std::string_view to_string(Layout layout) {
  static constexpr std::string_view kNames[] = {"NN", "NT", "TN", "TT"};
  return kNames[static_cast<size_t>(layout)];
}

std::string_view to_string(Step step) {
  static constexpr std::string_view kNames[] = {"forward", "input gradient", "weight gradient"};
  return kNames[static_cast<size_t>(step)];
}

std::array<int64_t, 3> contiguous_extents(const Gemm& g) {
  const bool a_transposed = g.layout == Layout::tn || g.layout == Layout::tt;
  const bool b_transposed = g.layout == Layout::nt || g.layout == Layout::tt;
  return {a_transposed ? g.m : g.k, b_transposed ? g.k : g.n, g.n};
}

Gemm dense_gemm(Dtype dtype, Layout layout, int64_t m, int64_t n, int64_t k) {
  Gemm gemm{.dtype = dtype, .layout = layout, .m = m, .n = n, .k = k};
  const std::array<int64_t, 3> extents = contiguous_extents(gemm);
  gemm.lda = extents[0];
  gemm.ldb = extents[1];
  gemm.ldc = extents[2];
  return gemm;
}

bool over_volumes(const Conv& c) { return c.depth > 1 || c.kernel_d > 1 || c.out_depth > 1; }

double scores(const Attention& a) {
  const double all = product({a.queries, a.keys});
  if (a.causal && a.keys > a.queries) {  // behind a cache query i sees the cache and i + 1 keys of its own
    const int64_t cached = a.keys - a.queries, most = a.window > 0 ? std::min(a.window, a.keys) : a.keys;
    const int64_t growing = std::clamp<int64_t>(most - cached, 0, a.queries);
    return product({growing, cached}) + 0.5 * product({growing, growing + 1}) +
           product({a.queries - growing, most});
  }
  if (a.window <= 0 || a.window >= a.keys) return all * (a.causal ? 0.5 : 1);
  const double window = static_cast<double>(a.window), rows = static_cast<double>(a.queries);
  // The first `window` queries of a causal mask see fewer.
  return std::min(all, a.causal ? rows * window - 0.5 * window * std::min(window, rows) : rows * window);
}

int64_t keys_read(const Attention& a) {
  return a.causal && a.window > 0 ? std::min(a.keys, a.window + a.queries - 1) : a.keys;
}

double flops(const Operation& operation) {
  if (const Gemm* g = std::get_if<Gemm>(&operation.work)) return 2 * product({g->batch, g->m, g->n, g->k});
  if (const Conv* c = std::get_if<Conv>(&operation.work)) return conv_flops(*c);
  if (const Attention* a = std::get_if<Attention>(&operation.work)) {
    const int64_t values = a->value_size > 0 ? a->value_size : a->head_size;
    return 2 * product({a->batch, a->heads, a->head_size + values}) * scores(*a) * (a->backward ? 3.5 : 1);
  }
  return 0;
}

double bytes(const Operation& operation) {
  if (const Gemm* g = std::get_if<Gemm>(&operation.work))
    return static_cast<double>(g->batch) *
           (element_bytes(g->dtype) * (product({g->m, g->k}) + product({g->k, g->n})) +
            result_bytes(g->dtype) * product({g->m, g->n}));
  if (const Conv* c = std::get_if<Conv>(&operation.work)) return conv_bytes(*c);
  if (const Attention* a = std::get_if<Attention>(&operation.work)) {
    const int64_t both = a->head_size + (a->value_size > 0 ? a->value_size : a->head_size);
    return (a->backward ? 3.0 : 1.0) * element_bytes(a->dtype) *
           (product({a->batch, a->heads, a->queries, both}) +
            product({a->batch, a->kv_heads, keys_read(*a), both}));
  }
  const Gather& gather = std::get<Gather>(operation.work);
  return 2.0 * element_bytes(gather.dtype) * product({gather.rows, gather.width});
}

std::string describe(const Operation& operation) {
  if (const Gemm* g = std::get_if<Gemm>(&operation.work))
    return fmt::format("{} x {} x {}, {}{}", g->m, g->n, g->k, to_string(g->layout),
                       g->batch > 1 ? fmt::format(", batch {}", g->batch) : "");
  if (const Conv* c = std::get_if<Conv>(&operation.work))
    return fmt::format("{} -> {} channels{}, {}{} x {} kernel, {} x {}{} x {}", c->in, c->out,
                       c->groups > 1 ? fmt::format(" in {} groups", c->groups) : "",
                       over_volumes(*c) ? fmt::format("{} x ", c->kernel_d) : "", c->kernel_h, c->kernel_w,
                       c->batch, over_volumes(*c) ? fmt::format("{} x ", c->depth) : "", c->height, c->width);
  if (const Attention* a = std::get_if<Attention>(&operation.work))
    return fmt::format("{} x {} heads of {}, {} queries, {} keys{}", a->batch, a->heads, a->head_size,
                       a->queries, a->keys, a->causal ? ", causal" : "");
  const Gather& gather = std::get<Gather>(operation.work);
  return fmt::format("{} rows of {}", gather.rows, gather.width);
}

}  // namespace fullwarp::shapes
