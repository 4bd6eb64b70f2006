// Times every step of the recipes on a GPU and holds each to the first step's result.
//
//     recipes_bench OUT.csv
//
// Columns: recipe, step, size, microseconds (median of graph replays), rate (TFLOP/s or TB/s), the library's
// microseconds (cuBLAS fp32 for the matrix product, cudaMemcpyAsync of as many bytes for transpose and sum;
// cuDNN: hw/recipes_cudnn.py), largest difference from step 1 over the largest value.
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "conv3d/1_naive.cuh"
#include "conv3d/2_shared.cuh"
#include "conv3d/3_registers.cuh"
#include "conv3x3/1_naive.cuh"
#include "conv3x3/2_shared.cuh"
#include "conv3x3/3_registers.cuh"
#include "fast_division.cuh"
#include "matmul/1_naive.cuh"
#include "matmul/2_tiled.cuh"
#include "matmul/3_registers.cuh"
#include "matmul/4_double_buffered.cuh"
#include "matmul/5_pipelined.cuh"
#include "reduction/1_shared.cuh"
#include "reduction/2_shuffle.cuh"
#include "reduction/3_vectors.cuh"
#include "transpose/1_naive.cuh"
#include "transpose/2_swizzled.cuh"
#include "transpose/2_tile.cuh"
#include "transpose/3_large_tile.cuh"

using namespace fullwarp::recipes;

#include "must.h"

namespace {

__global__ void randomize(float* data, size_t count, uint32_t seed) {
  for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<size_t>(gridDim.x) * blockDim.x) {
    uint32_t x = static_cast<uint32_t>(i) * 2654435761u + seed;
    x ^= x >> 16, x *= 0x85ebca6bu, x ^= x >> 13, x *= 0xc2b2ae35u, x ^= x >> 16;
    data[i] = static_cast<float>(x) * (2.0f / 4294967296.0f) - 1.0f;
  }
}

template <bool kFast>
__global__ void remainders(uint32_t* out, uint32_t divisor, FastDivisor fast) {
  uint32_t sum = 0;
  const uint32_t start = blockIdx.x * blockDim.x + threadIdx.x;
  for (uint32_t i = 0; i < 2000; ++i) sum += kFast ? (start + i * 977u) % fast : (start + i * 977u) % divisor;
  out[start] = sum;
}

float* buffer(size_t count) {
  float* data;
  must(cudaMalloc(&data, count * sizeof(float)), "cudaMalloc");
  return data;
}

cudaStream_t stream;
cudaEvent_t start_event, stop_event;

// Median microseconds of one run of `work`.
double time_us(const std::function<void()>& work, int repeats) {
  work();
  must(cudaStreamSynchronize(stream), "warm-up");
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
  for (int i = 0; i < repeats; ++i) work();
  must(cudaStreamEndCapture(stream, &graph), "end of capture");
  must(cudaGraphInstantiate(&executable, graph, 0), "instantiate");
  std::vector<double> times;
  for (int i = 0; i < 8; ++i) {
    cudaEventRecord(start_event, stream);
    cudaGraphLaunch(executable, stream);
    cudaEventRecord(stop_event, stream);
    must(cudaEventSynchronize(stop_event), "replay");
    float ms = 0;
    cudaEventElapsedTime(&ms, start_event, stop_event);
    if (i > 0) times.push_back(ms * 1e3 / repeats);
  }
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  std::nth_element(times.begin(), times.begin() + 3, times.end());
  return times[3];
}

double difference(const float* x, const float* want, size_t count) {
  std::vector<float> a(count), b(count);
  must(cudaMemcpy(a.data(), x, count * 4, cudaMemcpyDeviceToHost), "result");
  must(cudaMemcpy(b.data(), want, count * 4, cudaMemcpyDeviceToHost), "reference");
  double most = 0, largest = 0;
  for (size_t i = 0; i < count; ++i) {
    const double d = std::abs(static_cast<double>(a[i]) - b[i]);
    most = d > most || d != d ? d : most;
    largest = std::max(largest, std::abs(static_cast<double>(b[i])));
  }
  return most / largest;
}

std::FILE* out;

void report(const char* recipe, const char* step, const std::string& size, double us, double work_per_us,
            double library_us, double error) {
  std::fprintf(out, "%s,%s,%s,%.2f,%.3f,%.2f,%.1e\n", recipe, step, size.c_str(), us, work_per_us / us,
               library_us, error);
  std::fflush(out);
}

unsigned up(int64_t a, int64_t b) { return static_cast<unsigned>((a + b - 1) / b); }

void matmul(cublasHandle_t cublas, int n) {
  const size_t count = static_cast<size_t>(n) * n;
  float *a = buffer(count), *b = buffer(count), *c = buffer(count), *want = buffer(count);
  randomize<<<1024, 256>>>(a, count, 1);
  randomize<<<1024, 256>>>(b, count, 2);
  must(cudaDeviceSynchronize(), "random");
  const float one = 1, zero = 0;
  const double library = time_us(
      [&] {
        cublasGemmEx(cublas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b, CUDA_R_32F, n, a, CUDA_R_32F, n,
                     &zero, c, CUDA_R_32F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
      },
      1);
  const double flops = 2.0 * n * n * n * 1e-6;
  const auto step = [&](const char* name, const std::function<void()>& work) {
    cudaMemset(c, 0xff, count * 4);
    const double us = time_us(work, 1);
    const bool first = std::string(name) == "1_naive";
    if (first) cudaMemcpy(want, c, count * 4, cudaMemcpyDeviceToDevice);
    report("matmul", name, std::to_string(n), us, flops, library, first ? 0 : difference(c, want, count));
  };
  step("1_naive",
       [&] { matmul_naive<<<dim3(up(n, 32), up(n, 8)), dim3(32, 8), 0, stream>>>(a, b, c, n, n, n); });
  step("2_tiled",
       [&] { matmul_tiled<<<dim3(up(n, 32), up(n, 32)), dim3(32, 32), 0, stream>>>(a, b, c, n, n, n); });
  using Shape8 = TileShape<128, 128, 8>;
  const dim3 grid(up(n, 128), up(n, 128));
  step("3_registers",
       [&] { matmul_registers<Shape8><<<grid, Shape8::kThreads, 0, stream>>>(a, b, c, n, n, n); });
  const auto last = [&](auto shape, auto ahead, const char* name) {
    using Shape = decltype(shape);
    constexpr bool kAhead = decltype(ahead)::value;
    step(name, [&] {
      auto* kernel = n % 4 == 0 ? matmul_double_buffered<Shape, true, kAhead>
                                : matmul_double_buffered<Shape, false, kAhead>;
      kernel<<<dim3(up(n, Shape::kColumns), up(n, Shape::kRows)), Shape::kThreads, 0, stream>>>(a, b, c, n, n,
                                                                                                n);
    });
  };
  last(TileShape<128, 128, 8>{}, std::true_type{}, "4_double_buffered 128x128x8 ahead");
  last(TileShape<128, 128, 8>{}, std::false_type{}, "4_double_buffered 128x128x8");
  last(TileShape<128, 128, 16>{}, std::true_type{}, "4_double_buffered 128x128x16 ahead");
  last(TileShape<128, 128, 16>{}, std::false_type{}, "4_double_buffered 128x128x16");
  const auto pipelined = [&](auto shape, const char* name) {
    using Shape = decltype(shape);
    step(name, [&] {
      auto* kernel = n % 4 == 0 ? matmul_pipelined<Shape, true> : matmul_pipelined<Shape, false>;
      kernel<<<dim3(up(n, Shape::kColumns), up(n, Shape::kRows)), Shape::kThreads, 0, stream>>>(1.0f, a, b, c,
                                                                                                n, n, n);
    });
  };
  pipelined(TileShape<128, 128, 8>{}, "5_pipelined 128x128x8");
  pipelined(TileShape<128, 128, 16>{}, "5_pipelined 128x128x16");
  for (float* x : {a, b, c, want}) cudaFree(x);
}

void transpose(int n) {
  const size_t count = static_cast<size_t>(n) * n;
  float *in = buffer(count), *result = buffer(count), *want = buffer(count);
  randomize<<<1024, 256>>>(in, count, 1);
  const double library =
      time_us([&] { cudaMemcpyAsync(result, in, count * 4, cudaMemcpyDeviceToDevice, stream); }, 5);
  const double terabytes = 8e-6 * count;
  const auto step = [&](const char* name, const std::function<void()>& work) {
    cudaMemset(result, 0xff, count * 4);
    const double us = time_us(work, 5);
    const bool first = std::string(name) == "1_naive";
    if (first) cudaMemcpy(want, result, count * 4, cudaMemcpyDeviceToDevice);
    report("transpose", name, std::to_string(n), us, terabytes, library,
           first ? 0 : difference(result, want, count));
  };
  step("1_naive",
       [&] { transpose_naive<<<dim3(up(n, 32), up(n, 8)), dim3(32, 8), 0, stream>>>(in, result, n, n); });
  step("2_tile_unpadded", [&] {
    transpose_tile<float, 0><<<dim3(up(n, 32), up(n, 32)), dim3(32, 8), 0, stream>>>(in, result, n, n);
  });
  step("2_tile_padded", [&] {
    transpose_tile<float, 1><<<dim3(up(n, 32), up(n, 32)), dim3(32, 8), 0, stream>>>(in, result, n, n);
  });
  step("2_swizzled", [&] {
    transpose_swizzled<float><<<dim3(up(n, 32), up(n, 32)), dim3(32, 8), 0, stream>>>(in, result, n, n);
  });
  step("3_large_tile", [&] {
    transpose_large_tile<float><<<dim3(up(n, 64), up(n, 64)), 256, 0, stream>>>(in, result, n, n);
  });
  for (float* x : {in, result, want}) cudaFree(x);
}

void sum(int n) {
  float *in = buffer(static_cast<size_t>(n) + 1), *result = buffer(1), *want = buffer(1);
  randomize<<<1024, 256>>>(in, static_cast<size_t>(n) + 1, 1);
  const double library = time_us(
      [&] {
        cudaMemcpyAsync(in, in + n / 2, static_cast<size_t>(n) / 2 * 4, cudaMemcpyDeviceToDevice, stream);
      },
      5);
  const auto step = [&](const char* name, const std::function<void()>& work) {
    const double us = time_us(work, 5);
    cudaMemset(result, 0, 4);
    work();
    must(cudaStreamSynchronize(stream), name);
    const bool first = std::string(name) == "1_shared";
    if (first) cudaMemcpy(want, result, 4, cudaMemcpyDeviceToDevice);
    report("sum", name, std::to_string(n), us, 4e-6 * n, library, first ? 0 : difference(result, want, 1));
  };
  step("1_shared", [&] { sum_shared<<<up(n, 256), 256, 0, stream>>>(in, n, result); });
  step("2_shuffle", [&] { sum_shuffle<<<up(n, 256), 256, 0, stream>>>(in, n, result); });
  step("3_vectors", [&] { sum_vectors<<<std::min(up(n, 8192), 8 * 132u), 256, 0, stream>>>(in, n, result); });
  for (float* x : {in, result, want}) cudaFree(x);
}

void conv2d(int batch, ConvShape s) {
  const size_t plane = static_cast<size_t>(s.height) * s.width;
  const size_t in_count = batch * s.inputs * plane, out_count = batch * s.outputs * plane;
  float *in = buffer(in_count), *w = buffer(static_cast<size_t>(s.inputs) * s.outputs * 9),
        *result = buffer(out_count), *want = buffer(out_count);
  randomize<<<1024, 256>>>(in, in_count, 1);
  randomize<<<1024, 256>>>(w, static_cast<size_t>(s.inputs) * s.outputs * 9, 2);
  const double flops = 18e-6 * s.inputs * out_count;
  const std::string size = std::to_string(batch) + "x" + std::to_string(s.inputs) + "x" +
                           std::to_string(s.outputs) + "x" + std::to_string(s.height) + "x" +
                           std::to_string(s.width);
  const auto step = [&](const char* name, const std::function<void()>& work) {
    cudaMemset(result, 0xff, out_count * 4);
    const double us = time_us(work, 2);
    const bool first = std::string(name) == "1_naive";
    if (first) cudaMemcpy(want, result, out_count * 4, cudaMemcpyDeviceToDevice);
    report("conv3x3", name, size, us, flops, 0, first ? 0 : difference(result, want, out_count));
  };
  const unsigned b = static_cast<unsigned>(batch);
  step("1_naive", [&] {
    conv3x3_naive<<<dim3(up(s.width, 32), up(s.height, 8), b * s.outputs), dim3(32, 8), 0, stream>>>(
        in, w, result, s);
  });
  step("2_shared", [&] {
    conv3x3_shared<8>
        <<<dim3(up(s.width, 32), up(s.height, 8), b * up(s.outputs, 8)), dim3(32, 8), 0, stream>>>(in, w,
                                                                                                   result, s);
  });
  step("3_registers", [&] {
    conv3x3_registers<16>
        <<<dim3(up(s.width, 64), up(s.height, 16), b * up(s.outputs, 16)), dim3(16, 16), 0, stream>>>(
            in, w, result, s);
  });
  for (float* x : {in, w, result, want}) cudaFree(x);
}

void conv3d(int batch, Conv3dShape s) {
  const size_t volume = static_cast<size_t>(s.depth) * s.height * s.width;
  const size_t in_count = batch * s.inputs * volume, out_count = batch * s.outputs * volume;
  float *in = buffer(in_count), *w = buffer(static_cast<size_t>(s.inputs) * s.outputs * 27),
        *result = buffer(out_count), *want = buffer(out_count);
  randomize<<<1024, 256>>>(in, in_count, 1);
  randomize<<<1024, 256>>>(w, static_cast<size_t>(s.inputs) * s.outputs * 27, 2);
  const double flops = 54e-6 * s.inputs * out_count;
  const std::string size = std::to_string(batch) + "x" + std::to_string(s.inputs) + "x" +
                           std::to_string(s.outputs) + "x" + std::to_string(s.depth) + "x" +
                           std::to_string(s.height) + "x" + std::to_string(s.width);
  const auto step = [&](const char* name, const std::function<void()>& work) {
    cudaMemset(result, 0xff, out_count * 4);
    const double us = time_us(work, 2);
    const bool first = std::string(name) == "1_naive";
    if (first) cudaMemcpy(want, result, out_count * 4, cudaMemcpyDeviceToDevice);
    report("conv3d", name, size, us, flops, 0, first ? 0 : difference(result, want, out_count));
  };
  const unsigned b = static_cast<unsigned>(batch * s.depth);
  step("1_naive", [&] {
    conv3d_naive<<<dim3(up(s.width, 32), up(s.height, 8), b * s.outputs), dim3(32, 8), 0, stream>>>(
        in, w, result, s);
  });
  step("2_shared", [&] {
    conv3d_shared<8>
        <<<dim3(up(s.width, 32), up(s.height, 8), b * up(s.outputs, 8)), dim3(32, 8), 0, stream>>>(in, w,
                                                                                                   result, s);
  });
  const auto last = [&](auto along, const char* name) {
    constexpr int kAlong = decltype(along)::value;
    step(name, [&] {
      conv3d_registers<16, kAlong><<<dim3(up(s.width, 16 * kAlong), up(s.height, 16), b * up(s.outputs, 16)),
                                     dim3(16, 16), 0, stream>>>(in, w, result, s);
    });
  };
  last(std::integral_constant<int, 2>{}, "3_registers 2 along");
  last(std::integral_constant<int, 4>{}, "3_registers 4 along");
  last(std::integral_constant<int, 5>{}, "3_registers 5 along");
  for (float* x : {in, w, result, want}) cudaFree(x);
}

void division() {
  uint32_t* result;
  must(cudaMalloc(&result, 132 * 8 * 256 * 4), "cudaMalloc");
  const FastDivisor fast(255);
  const double plain = time_us([&] { remainders<false><<<132 * 8, 256, 0, stream>>>(result, 255, fast); }, 2);
  const double quick = time_us([&] { remainders<true><<<132 * 8, 256, 0, stream>>>(result, 255, fast); }, 2);
  const double operations = 132.0 * 8 * 256 * 2000 * 1e-6;
  report("remainder", "1_run_time", "255", plain, operations, 0, 0);
  report("remainder", "2_fast", "255", quick, operations, 0, 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  out = std::fopen(argv[1], "w");
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  cudaEventCreate(&start_event);
  cudaEventCreate(&stop_event);
  cublasHandle_t cublas;
  cublasCreate(&cublas);
  cublasSetStream(cublas, stream);
  void* workspace;
  must(cudaMalloc(&workspace, 32 << 20), "workspace");
  cublasSetWorkspace(cublas, workspace, 32 << 20);
  std::fprintf(out, "recipe,step,size,us,rate,library_us,difference\n");
  for (const int n : {4096, 4095}) matmul(cublas, n);
  for (const int n : {8192, 8191}) transpose(n);
  sum(1 << 27);
  sum((1 << 27) - 3);
  conv2d(16, {64, 64, 112, 112});
  conv2d(16, {63, 65, 111, 113});
  conv3d(2, {16, 32, 64, 64, 64});
  conv3d(2, {15, 33, 63, 65, 67});
  division();
  std::fclose(out);
  return 0;
}
