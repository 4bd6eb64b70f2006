// Times products side by side: cuBLAS as it is, the same size rounded up to multiples of 8, the GEMM library
// as it chooses, and with everything misaligned staged, and by our own kernel where that can be (else as
// staged).
//
//     gemm_bench CASES.csv OUT.csv [SECONDS]
//
// A case is a line `group,type,ta,tb,M,N,K` (row-major; ta, tb are N or T) with optional `,lda,ldb,ldd`. Each
// way is captured into a graph of one or more products over rotating operands (150 MB or more in all, so that
// the L2 cache holds none of the next), replayed in turn, and the median microseconds of a product written
// out. Operands are random numbers of mean 0.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "fullwarp/gemm.h"
#include "must.h"

namespace {

__global__ void randomize(void* data, size_t count, int type, uint32_t seed) {
  for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<size_t>(gridDim.x) * blockDim.x) {
    uint32_t x = static_cast<uint32_t>(i) * 2654435761u + seed;
    x ^= x >> 16, x *= 0x85ebca6bu, x ^= x >> 13, x *= 0xc2b2ae35u, x ^= x >> 16;
    const float value = static_cast<float>(x) * (2.0f / 4294967296.0f) - 1.0f;
    if (type == FW_GEMM_BF16) static_cast<__nv_bfloat16*>(data)[i] = __float2bfloat16(value);
    if (type == FW_GEMM_FP16) static_cast<__half*>(data)[i] = __float2half(value);
    if (type >= FW_GEMM_TF32) static_cast<float*>(data)[i] = value;
  }
}

struct Case {
  std::string group;
  fwGemmType type;
  bool ta, tb;
  int64_t m, n, k, lda, ldb, ldd;
};

constexpr size_t kPoolBytes = size_t{2} << 30;
char *pool_a, *pool_b, *pool_d;
int pool_type = -1;

void fill_pools(fwGemmType type) {
  const int kind = type >= FW_GEMM_TF32 ? FW_GEMM_TF32 : type;
  if (kind == pool_type) return;
  pool_type = kind;
  const size_t count = kPoolBytes / (kind == FW_GEMM_TF32 ? 4 : 2);
  randomize<<<1024, 256>>>(pool_a, count, kind, 1);
  randomize<<<1024, 256>>>(pool_b, count, kind, 77);
  must(cudaDeviceSynchronize(), "random operands");
}

struct Way {
  cudaGraphExec_t graph = nullptr;
  int products = 0;
  std::vector<double> microseconds;
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const double budget = argc > 3 ? std::atof(argv[3]) : 1e9;
  const auto begin = std::chrono::steady_clock::now();
  must(cudaMalloc(&pool_a, kPoolBytes), "pool");
  must(cudaMalloc(&pool_b, kPoolBytes), "pool");
  must(cudaMalloc(&pool_d, kPoolBytes), "pool");
  cudaStream_t stream;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  cublasHandle_t cublas;
  cublasCreate(&cublas);
  cublasSetStream(cublas, stream);
  void* workspace;
  must(cudaMalloc(&workspace, size_t{32} << 20), "workspace");
  cublasSetWorkspace(cublas, workspace, size_t{32} << 20);
  fwGemm_t chosen, staged, fused;
  setenv("FULLWARP_GEMM_MODE", "auto", 1);
  fwGemmCreate(&chosen);
  setenv("FULLWARP_GEMM_MODE", "staged", 1);
  fwGemmCreate(&staged);
  setenv("FULLWARP_GEMM_MODE", "fused", 1);
  fwGemmCreate(&fused);
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);

  std::ofstream out(argv[2]);
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  out << "# " << properties.name << ", cuBLAS " << CUBLAS_VERSION
      << ", graph replay, median of up to 11 rounds in turn, operands rotate over 150 MB or more\n";
  out << "group,type,trans,M,N,K,lda,ldb,ldd,cublas_us,aligned_us,ours_us,staged_us,fused_us,predicted\n";
  std::ifstream in(argv[1]);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > budget) {
      out << "# stopped: out of time\n";
      break;
    }
    std::vector<std::string> f;
    std::stringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) f.push_back(field);
    if (f.size() < 7) continue;
    Case c;
    c.group = f[0];
    c.type = f[1] == "bf16"   ? FW_GEMM_BF16
             : f[1] == "fp16" ? FW_GEMM_FP16
             : f[1] == "tf32" ? FW_GEMM_TF32
                              : FW_GEMM_FP32;
    c.ta = f[2] == "T";
    c.tb = f[3] == "T";
    c.m = std::atoll(f[4].c_str());
    c.n = std::atoll(f[5].c_str());
    c.k = std::atoll(f[6].c_str());
    c.lda = f.size() > 7 ? std::atoll(f[7].c_str()) : c.ta ? c.m : c.k;
    c.ldb = f.size() > 8 ? std::atoll(f[8].c_str()) : c.tb ? c.k : c.n;
    c.ldd = f.size() > 9 ? std::atoll(f[9].c_str()) : c.n;
    fill_pools(c.type);
    const size_t bytes = c.type >= FW_GEMM_TF32 ? 4 : 2;

    const auto make = [&](const Case& x, const std::function<bool(int64_t, int64_t, int64_t)>& product) {
      Way way;
      const size_t a = (x.ta ? x.k : x.m) * x.lda * bytes, b = (x.tb ? x.n : x.k) * x.ldb * bytes,
                   d = x.m * x.ldd * bytes;
      const auto pitch = [](size_t v) { return (v + 1023) / 1024 * 1024; };
      const int sets = static_cast<int>(std::clamp<size_t>(size_t{150000000} / (a + b + d) + 1, 1, 32));
      const double estimate = 2.0 * x.m * x.n * x.k / (c.type == FW_GEMM_FP32 ? 45e6 : 300e6) + 5;
      way.products = std::max(sets, static_cast<int>(std::clamp(1500.0 / estimate, 1.0, 64.0)));
      if (!product(0, 0, 0)) return way;  // allocates, chooses, warms up
      must(cudaStreamSynchronize(stream), "warm-up");
      must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
      bool fine = true;
      for (int i = 0; i < way.products; ++i) {
        const size_t set = i % sets;
        fine = product(set * pitch(a), set * pitch(b), set * pitch(d)) && fine;
      }
      cudaGraph_t graph;
      must(cudaStreamEndCapture(stream, &graph), "end of capture");
      if (fine) must(cudaGraphInstantiate(&way.graph, graph, 0), "instantiate");
      cudaGraphDestroy(graph);
      return way;
    };
    const auto by_cublas = [&](const Case& x) {
      return make(x, [&](int64_t a, int64_t b, int64_t d) {
        const float one = 1, zero = 0;
        const cudaDataType_t type = x.type == FW_GEMM_BF16   ? CUDA_R_16BF
                                    : x.type == FW_GEMM_FP16 ? CUDA_R_16F
                                                             : CUDA_R_32F;
        const cublasComputeType_t compute =
            x.type == FW_GEMM_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
        return cublasGemmEx(cublas, x.tb ? CUBLAS_OP_T : CUBLAS_OP_N, x.ta ? CUBLAS_OP_T : CUBLAS_OP_N, x.n,
                            x.m, x.k, &one, pool_b + b, type, x.ldb, pool_a + a, type, x.lda, &zero,
                            pool_d + d, type, x.ldd, compute, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS;
      });
    };
    const auto problem_of = [&](const Case& x) {
      fwGemmProblem p = fwGemmDefaults(x.type, FW_GEMM_ROW_MAJOR, x.m, x.n, x.k);
      p.transpose_a = x.ta;
      p.transpose_b = x.tb;
      p.lda = x.lda;
      p.ldb = x.ldb;
      p.ldd = x.ldd;
      p.a = pool_a;
      p.b = pool_b;
      p.d = pool_d;
      return p;
    };
    const auto by_ours = [&](const Case& x, fwGemm_t gemm) {
      return make(x, [&, gemm](int64_t a, int64_t b, int64_t d) {
        fwGemmProblem p = problem_of(x);
        p.a = pool_a + a;
        p.b = pool_b + b;
        p.d = pool_d + d;
        return fwGemmRun(gemm, &p, stream) == FW_GEMM_OK;
      });
    };
    Case next = c;
    const auto up = [](int64_t v) { return (v + 7) / 8 * 8; };
    next.m = up(c.m), next.n = up(c.n), next.k = up(c.k);
    next.lda = next.ta ? next.m : next.k;
    next.ldb = next.tb ? next.k : next.n;
    next.ldd = next.n;
    Way ways[5] = {by_cublas(c), by_cublas(next), by_ours(c, chosen), by_ours(c, staged), by_ours(c, fused)};
    for (int round = 0; round < 12; ++round) {
      for (Way& way : ways) {
        if (way.graph == nullptr) continue;
        cudaEventRecord(start, stream);
        cudaGraphLaunch(way.graph, stream);
        cudaEventRecord(stop, stream);
        must(cudaEventSynchronize(stop), "replay");
        float milliseconds = 0;
        cudaEventElapsedTime(&milliseconds, start, stop);
        if (round > 0) way.microseconds.push_back(milliseconds * 1e3 / way.products);
      }
    }
    const fwGemmProblem p = problem_of(c);
    char text[512];
    fwGemmExplain(chosen, &p, text, sizeof(text));
    const std::string explained = text;
    const char* choice = explained.find(": plain") != std::string::npos    ? "plain"
                         : explained.find(": staged") != std::string::npos ? "staged"
                                                                           : "fused";
    char row[512];
    std::snprintf(row, sizeof(row), "%s,%s,%c%c,%ld,%ld,%ld,%ld,%ld,%ld,%.2f,%.2f,%.2f,%.2f,%.2f,%s",
                  c.group.c_str(), f[1].c_str(), c.ta ? 'T' : 'N', c.tb ? 'T' : 'N', c.m, c.n, c.k, c.lda,
                  c.ldb, c.ldd, median(ways[0].microseconds), median(ways[1].microseconds),
                  median(ways[2].microseconds), median(ways[3].microseconds), median(ways[4].microseconds),
                  choice);
    out << row << "\n";
    out.flush();
    for (Way& way : ways) {
      if (way.graph != nullptr) cudaGraphExecDestroy(way.graph);
    }
  }
  fwGemmDestroy(chosen);
  fwGemmDestroy(staged);
  fwGemmDestroy(fused);
  return 0;
}
