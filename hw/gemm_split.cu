// A product split into an aligned body and a rest, against the ways that the library has.
//
//     gemm_split OUT.csv
//
// The body (extents rounded down to multiples of 8) and the rests along K (added with beta = 1), N and M are
// cuBLAS products on views of the operands. It needs pitches and bases that are aligned already: where they
// are not, the body is as slow as the whole. bf16, row-major; microseconds are medians of graph replays of
// one operand set.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "fullwarp/gemm.h"
#include "must.h"

namespace {

__global__ void randomize(__nv_bfloat16* data, size_t count, uint32_t seed) {
  for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<size_t>(gridDim.x) * blockDim.x) {
    uint32_t x = static_cast<uint32_t>(i) * 2654435761u + seed;
    x ^= x >> 16, x *= 0x85ebca6bu, x ^= x >> 13, x *= 0xc2b2ae35u, x ^= x >> 16;
    data[i] = __float2bfloat16(static_cast<float>(x) * (2.0f / 4294967296.0f) - 1.0f);
  }
}

cudaStream_t stream;

double median_us(const std::function<void()>& work) {
  work();
  must(cudaStreamSynchronize(stream), "warm-up");
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
  for (int i = 0; i < 4; ++i) work();
  must(cudaStreamEndCapture(stream, &graph), "end of capture");
  must(cudaGraphInstantiate(&executable, graph, 0), "instantiate");
  std::vector<double> times;
  for (int i = 0; i < 8; ++i) {
    cudaEventRecord(start, stream);
    cudaGraphLaunch(executable, stream);
    cudaEventRecord(stop, stream);
    must(cudaEventSynchronize(stop), "replay");
    float ms = 0;
    cudaEventElapsedTime(&ms, start, stop);
    if (i > 0) times.push_back(ms * 1e3 / 4);
  }
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  std::nth_element(times.begin(), times.begin() + 3, times.end());
  return times[3];
}

}  // namespace

int main(int argc, char** argv) {
  std::FILE* const out = argc > 1 ? std::fopen(argv[1], "w") : nullptr;
  if (out == nullptr) return 2;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  cublasHandle_t cublas;
  cublasCreate(&cublas);
  cublasSetStream(cublas, stream);
  void* workspace;
  must(cudaMalloc(&workspace, size_t{32} << 20), "workspace");
  cublasSetWorkspace(cublas, workspace, size_t{32} << 20);
  constexpr int64_t kPitch = 8192;
  __nv_bfloat16 *a, *b, *d;
  for (__nv_bfloat16** x : {&a, &b, &d}) {
    must(cudaMalloc(x, kPitch * kPitch * sizeof(__nv_bfloat16)), "operands");
    randomize<<<1024, 256>>>(*x, kPitch * kPitch, 7);
  }
  must(cudaDeviceSynchronize(), "random operands");
  fwGemm_t ours;
  fwGemmCreate(&ours);
  std::fprintf(out, "M,N,K,lda,ldb,ldd,cublas_us,body_us,split_us,ours_us,aligned_us\n");
  const auto one_case = [&](int64_t m, int64_t n, int64_t k, int64_t given_pitch) {
    int64_t pitch = given_pitch;
    const auto product = [&](int64_t i, int64_t j, int64_t l, int64_t rows, int64_t columns, int64_t terms,
                             float beta) {
      const float one = 1;
      if (rows == 0 || columns == 0 || terms == 0) return;
      cublasGemmEx(cublas, CUBLAS_OP_N, CUBLAS_OP_N, columns, rows, terms, &one, b + l * pitch + j,
                   CUDA_R_16BF, pitch, a + i * pitch + l, CUDA_R_16BF, pitch, &beta, d + i * pitch + j,
                   CUDA_R_16BF, pitch, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    };
    const auto up = [](int64_t x) { return (x + 7) / 8 * 8; };
    const int64_t m8 = m / 8 * 8, n8 = n / 8 * 8, k8 = k / 8 * 8;
    fwGemmProblem p = fwGemmDefaults(FW_GEMM_BF16, FW_GEMM_ROW_MAJOR, m, n, k);
    p.lda = p.ldb = p.ldd = p.ldc = pitch;
    p.a = a, p.b = b, p.d = d;
    const double whole = median_us([&] { product(0, 0, 0, m, n, k, 0); });
    const double body = median_us([&] { product(0, 0, 0, m8, n8, k8, 0); });
    const double split = median_us([&] {
      product(0, 0, 0, m8, n8, k8, 0);
      product(0, 0, k8, m8, n8, k - k8, 1);
      product(0, n8, 0, m, n - n8, k, 0);
      product(m8, 0, 0, m - m8, n8, k, 0);
    });
    const double own = median_us([&] { fwGemmRun(ours, &p, stream); });
    pitch = up(pitch);
    const double aligned = median_us([&] { product(0, 0, 0, up(m), up(n), up(k), 0); });
    std::fprintf(out, "%ld,%ld,%ld,%ld,%ld,%ld,%.1f,%.1f,%.1f,%.1f,%.1f\n", m, n, k, given_pitch, given_pitch,
                 given_pitch, whole, body, split, own, aligned);
  };
  for (const int64_t size : {1024, 2048, 4096}) {
    one_case(size, size, size - 1, size);
    one_case(size, size - 1, size, size);
    one_case(size - 1, size - 1, size - 1, size);
  }
  one_case(4095, 4095, 4095, 4095);
  std::fclose(out);
  fwGemmDestroy(ours);
  return 0;
}
