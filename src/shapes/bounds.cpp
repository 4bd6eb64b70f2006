#include "shapes/bounds.h"

#include <algorithm>

namespace fullwarp::shapes {

namespace {

constexpr double kLeastKernelUs = 1.0;  // no kernel is over sooner; the shortest measured on an H200 took 1.7

// GeForce boards run above the clock that they are sold with: 211 TFLOP/s were reported of an RTX 5090 whose
// data sheet says 209.5 (docs/shapes.md).
constexpr double kGeForceHeadroom = 1.1;

double product(std::initializer_list<int64_t> factors) {
  double result = 1;
  for (int64_t factor : factors) result *= static_cast<double>(factor);
  return result;
}

double result_of(const Gemm& g) { return result_bytes(g.dtype) * product({g.batch, g.m, g.n}); }

double result_of(const Conv& c) {
  const double dtype_bytes = element_bytes(c.dtype);
  switch (c.step) {
    case Step::forward:
      return dtype_bytes * product({c.batch, c.out_depth, c.out_height, c.out_width, c.out});
    case Step::input_gradient: return dtype_bytes * product({c.batch, c.depth, c.height, c.width, c.in});
    case Step::weight_gradient: break;
  }
  return dtype_bytes * product({c.in, c.out, c.kernel_d, c.kernel_h, c.kernel_w}) /
         static_cast<double>(c.groups);
}

double result_of(const Attention& a) {
  if (a.backward) return 2.0 / 3 * bytes(Operation{.work = a});  // all but the operands' first reading
  const int64_t size = a.value_size > 0 ? a.value_size : a.head_size;
  return element_bytes(a.dtype) * product({a.batch, a.heads, a.queries, size});
}

// Rows that are looked up twice come from L2: what is read of a table is not known.
double result_of(const Gather& g) { return bytes(Operation{.work = g}); }

}  // namespace

Dtype dtype_of(const Operation& operation) {
  return std::visit([](const auto& work) { return work.dtype; }, operation.work);
}

double peak_tflops(const gpu::Gpu& gpu, Dtype dtype) {
  switch (dtype) {
    case Dtype::bf16: return gpu.sm->version >= 80 ? gpu.f16_tensor_tflops.value : 0;
    case Dtype::fp16: return gpu.f16_tensor_tflops;
    case Dtype::tf32: return gpu.tf32_tflops;
    case Dtype::fp32: return gpu.fp32_tflops;
    case Dtype::fp8: return gpu.sm->version >= 89 ? 2 * gpu.f16_tensor_tflops.value : 0;
    case Dtype::int8: return gpu.int8_tops;
  }
  return 0;
}

double bound_us(const Operation& operation, const gpu::Gpu& gpu) {
  const double result = std::visit([](const auto& work) { return result_of(work); }, operation.work);
  const double kept = std::min(result, 1024.0 * gpu.l2_kb);
  const double memory = (bytes(operation) - kept) / (gpu.dram_gb_per_s * 1e3);
  const double peak = peak_tflops(gpu, dtype_of(operation));
  const double headroom = gpu.title.find("GeForce") != std::string_view::npos ? kGeForceHeadroom : 1;
  const double compute = peak > 0 ? flops(operation) / (headroom * peak * 1e6) : 0;
  return std::max({kLeastKernelUs, memory, compute});
}

}  // namespace fullwarp::shapes
