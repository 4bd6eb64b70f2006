// The yardstick: three matrix products of the gallery as OpenCL kernels, compiled to native code for this CPU
// by PoCL, without any counting or checking. bench/exec_bench.cpp runs the same products from PTX; the names
// are the same, so that scripts/bench.sh can put them side by side. The kernels follow recipes/matmul, steps
// 1 to 3, line by line.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr cl_int kN = 512;

constexpr const char* kSource = R"(
kernel void product_naive(global const float* restrict a, global const float* restrict b, global float* restrict c,
                          int m, int n, int k) {
  int col = get_global_id(0), row = get_global_id(1);
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}

kernel void product_tiled(global const float* restrict a, global const float* restrict b, global float* restrict c,
                          int m, int n, int k) {
  local float tile_a[32][32], tile_b[32][32];
  int x = get_local_id(0), y = get_local_id(1);
  int col = get_group_id(0) * 32 + x, row = get_group_id(1) * 32 + y;
  float sum = 0;
  for (int first = 0; first < k; first += 32) {
    int a_col = first + x, b_row = first + y;
    tile_a[y][x] = row < m && a_col < k ? a[row * k + a_col] : 0.0f;
    tile_b[y][x] = b_row < k && col < n ? b[b_row * n + col] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 32; ++i) sum += tile_a[y][i] * tile_b[i][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

kernel void product_register_blocked(global const float* restrict a, global const float* restrict b,
                                     global float* restrict c, int m, int n, int k) {
  local float tile_a[8][132], tile_b[8][128];
  int thread = get_local_id(0);
  int block_row = get_group_id(1) * 128, block_column = get_group_id(0) * 128;
  int first_row = thread / 64 * 32 + (thread % 32 / 16 * 2 + thread % 2) * 4;
  int first_column = thread / 32 % 2 * 64 + thread % 16 / 2 * 4;
  float sum[8][8];
  #pragma unroll
  for (int i = 0; i < 8; ++i)
    #pragma unroll
    for (int j = 0; j < 8; ++j) sum[i][j] = 0;
  for (int first = 0; first < k; first += 8) {
    for (int i = thread; i < 1024; i += 256) {
      int row = i / 8, depth = i % 8;
      tile_a[depth][row] = block_row + row < m && first + depth < k ? a[(block_row + row) * k + first + depth] : 0.0f;
    }
    for (int i = thread; i < 1024; i += 256) {
      int depth = i / 128, column = i % 128;
      tile_b[depth][column] =
          first + depth < k && block_column + column < n ? b[(first + depth) * n + block_column + column] : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (int d = 0; d < 8; ++d) {
      float x[8], y[8];
      #pragma unroll
      for (int i = 0; i < 8; ++i) {
        x[i] = tile_a[d][first_row + i % 4 + i / 4 * 16];
        y[i] = tile_b[d][first_column + i % 4 + i / 4 * 32];
      }
      #pragma unroll
      for (int i = 0; i < 8; ++i)
        #pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] += x[i] * y[j];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  #pragma unroll
  for (int i = 0; i < 8; ++i)
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      int row = block_row + first_row + i % 4 + i / 4 * 16;
      int col = block_column + first_column + j % 4 + j / 4 * 32;
      if (row < m && col < n) c[row * n + col] = sum[i][j];
    }
}
)";

struct Device {
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_program program = nullptr;
  std::string error;
};

// PoCL's CPU device: any other platform would compare something else.
Device open_device() {
  Device device;
  cl_platform_id platforms[16];
  cl_uint count = 0;
  clGetPlatformIDs(16, platforms, &count);
  for (cl_uint i = 0; i < count && i < 16; ++i) {
    char name[256] = "";
    clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, nullptr);
    cl_device_id id = nullptr;
    if (std::string(name) != "Portable Computing Language" ||
        clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &id, nullptr) != CL_SUCCESS)
      continue;
    device.context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, nullptr);
    device.queue = clCreateCommandQueue(device.context, id, 0, nullptr);
    const char* source = kSource;
    device.program = clCreateProgramWithSource(device.context, 1, &source, nullptr, nullptr);
    if (clBuildProgram(device.program, 1, &id, "", nullptr, nullptr) != CL_SUCCESS) {
      std::vector<char> log(1 << 16);
      clGetProgramBuildInfo(device.program, id, CL_PROGRAM_BUILD_LOG, log.size() - 1, log.data(), nullptr);
      device.error = log.data();
    }
    return device;
  }
  device.error = "no PoCL device (Debian: pocl-opencl-icd)";
  return device;
}

// A few results against sums in double, so that a broken driver is not taken for a fast one.
bool is_product(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& c) {
  for (size_t row = 0; row < kN; row += 73) {
    for (size_t col = 0; col < kN; col += 41) {
      double sum = 0;
      for (size_t i = 0; i < kN; ++i) sum += static_cast<double>(a[row * kN + i]) * b[i * kN + col];
      if (!(std::abs(c[row * kN + col] - sum) <= 1e-4 * sum)) return false;
    }
  }
  return true;
}

void execute(benchmark::State& state, const char* name, size_t columns, size_t rows, size_t block_x,
             size_t block_y) {
  static const Device device = open_device();
  if (!device.error.empty()) {
    state.SkipWithError(device.error.c_str());
    return;
  }
  const size_t count = size_t{kN} * kN, bytes = count * sizeof(float);
  std::vector<float> a(count), b(count), c(count);
  std::mt19937 random(1);
  for (std::vector<float>* matrix : {&a, &b})
    for (float& value : *matrix) value = static_cast<float>(random() >> 8) * 0x1p-24f;
  cl_mem buffers[3];
  std::vector<float>* const values[3] = {&a, &b, &c};
  const cl_kernel kernel = clCreateKernel(device.program, name, nullptr);
  for (cl_uint i = 0; i < 3; ++i) {
    buffers[i] = clCreateBuffer(device.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes,
                                values[i]->data(), nullptr);
    clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]);
    clSetKernelArg(kernel, 3 + i, sizeof(cl_int), &kN);
  }
  const size_t global[2] = {columns, rows}, local[2] = {block_x, block_y};
  const auto launch = [&] {
    return clEnqueueNDRangeKernel(device.queue, kernel, 2, nullptr, global, local, 0, nullptr, nullptr) ==
               CL_SUCCESS &&
           clFinish(device.queue) == CL_SUCCESS;
  };
  // The first launch compiles for this block size.
  const bool works = launch() && clEnqueueReadBuffer(device.queue, buffers[2], CL_TRUE, 0, bytes, c.data(), 0,
                                                     nullptr, nullptr) == CL_SUCCESS;
  if (!works || !is_product(a, b, c))
    state.SkipWithError(works ? "wrong results" : "the kernel does not launch");
  for (auto _ : state) {
    if (!launch()) state.SkipWithError("the kernel does not launch");
  }
  state.counters["GFLOP"] = benchmark::Counter(2e-9 * kN * kN * kN * static_cast<double>(state.iterations()),
                                               benchmark::Counter::kIsRate);
  for (cl_mem buffer : buffers) clReleaseMemObject(buffer);
  clReleaseKernel(kernel);
}

BENCHMARK_CAPTURE(execute, product_naive, "product_naive", 512, 512, 32, 8)
    ->Name("product_naive/pocl")
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(execute, product_tiled, "product_tiled", 512, 512, 32, 32)
    ->Name("product_tiled/pocl")
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(execute, product_register_blocked, "product_register_blocked", 1024, 4, 256, 1)
    ->Name("product_register_blocked/pocl")
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
