// Holds the GEMM library to a reference that sums in double, on a GPU.
//
//     gemm_check [--cases N] [--seed S] [--small]
//
// Random problems of every type, order, transposition, pitch, base offset, batch, beta, bias and activation;
// D lies in a buffer whose other bytes must stay as they were. Every buffer has exactly the bytes that the
// problem spans, so that compute-sanitizer sees a read beside it. Prints one line for each failure and the
// count of cases.
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "fullwarp/gemm.h"
#include "must.h"

namespace {

__host__ __device__ double load(const void* data, fwGemmType type, int64_t index) {
  switch (type) {
    case FW_GEMM_BF16:
      return static_cast<double>(__bfloat162float(static_cast<const __nv_bfloat16*>(data)[index]));
    case FW_GEMM_FP16:
      return static_cast<double>(__half2float(static_cast<const __half*>(data)[index]));
    default:
      return static_cast<double>(static_cast<const float*>(data)[index]);
  }
}

// One thread for each element of D; out[3 * i] is the value, [3 * i + 1] the sum of magnitudes.
__global__ void reference(fwGemmProblem p, const void* c, double* out) {
  const int64_t index = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (index >= p.m * p.n * p.batch) return;
  const int64_t j = index % p.n, i = index / p.n % p.m, q = index / p.n / p.m;
  const bool rows = p.order == FW_GEMM_ROW_MAJOR;
  const auto at = [&](int64_t r, int64_t s, int64_t ld) { return rows ? r * ld + s : s * ld + r; };
  double sum = 0, magnitude = 0;
  for (int64_t l = 0; l < p.k; ++l) {
    const double x = load(p.a, p.type, q * p.stride_a + (p.transpose_a ? at(l, i, p.lda) : at(i, l, p.lda)));
    const double y = load(p.b, p.type, q * p.stride_b + (p.transpose_b ? at(j, l, p.ldb) : at(l, j, p.ldb)));
    sum += x * y;
    magnitude += fabs(x * y);
  }
  sum *= p.alpha;
  magnitude *= fabs(p.alpha);
  if (p.beta != 0) {
    const int64_t ld = p.c != nullptr ? p.ldc : p.ldd;
    const double v = p.beta * load(c, p.type, q * (p.c != nullptr ? p.stride_c : p.stride_d) + at(i, j, ld));
    sum += v;
    magnitude += fabs(v);
  }
  if (p.bias != nullptr) {
    const double v = load(p.bias, p.type, rows ? j : i);
    sum += v;
    magnitude += fabs(v);
  }
  if (p.activation == FW_GEMM_RELU && !(sum > 0)) sum = 0;
  if (p.activation == FW_GEMM_GELU) {
    sum = 0.5 * sum * (1 + tanh(0.7978845608028654 * (sum + 0.044715 * sum * sum * sum)));
  }
  out[2 * index] = sum;
  out[2 * index + 1] = magnitude;
}

struct Buffer {
  void* base = nullptr;
  void* data = nullptr;  // base + offset
  size_t bytes = 0;
  Buffer(size_t wanted, size_t offset) : bytes(wanted + offset) {
    must(cudaMalloc(&base, bytes == 0 ? 1 : bytes), "cudaMalloc");
    data = static_cast<char*>(base) + offset;
  }
  ~Buffer() { cudaFree(base); }
  Buffer(const Buffer&) = delete;
};

void fill(const Buffer& buffer, fwGemmType type, std::mt19937& random) {
  std::vector<char> host(buffer.bytes);
  std::uniform_real_distribution<float> values(-1.0f, 1.0f);
  if (type == FW_GEMM_BF16) {
    for (size_t i = 0; i + 2 <= host.size(); i += 2) {
      const __nv_bfloat16 v = __float2bfloat16(values(random));
      std::memcpy(&host[i], &v, 2);
    }
  } else if (type == FW_GEMM_FP16) {
    for (size_t i = 0; i + 2 <= host.size(); i += 2) {
      const __half v = __float2half(values(random));
      std::memcpy(&host[i], &v, 2);
    }
  } else {
    for (size_t i = 0; i + 4 <= host.size(); i += 4) {
      const float v = values(random);
      std::memcpy(&host[i], &v, 4);
    }
  }
  must(cudaMemcpy(buffer.base, host.data(), host.size(), cudaMemcpyHostToDevice), "fill");
}

const char* kTypes[] = {"bf16", "fp16", "tf32", "fp32"};

}  // namespace

int main(int argc, char** argv) {
  int cases = 400, seed = 1, failures = 0;
  bool small = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--cases") == 0 && i + 1 < argc) cases = std::atoi(argv[++i]);
    if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc) seed = std::atoi(argv[++i]);
    if (std::strcmp(argv[i], "--small") == 0) small = true;
  }
  fwGemm_t gemm;
  if (fwGemmCreate(&gemm) != FW_GEMM_OK) {
    std::fprintf(stderr, "fwGemmCreate: %s\n", fwGemmMessage());
    return 3;
  }
  cudaStream_t stream;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  int unsupported = 0;
  double worst = 0;
  for (int number = 0; number < cases; ++number) {
    std::mt19937 random(seed * 100003 + number);
    const auto pick = [&](int low, int high) {
      return std::uniform_int_distribution<int>(low, high)(random);
    };
    const int largest = small ? 200 : number % 4 == 0 ? 1100 : 400;
    fwGemmProblem p =
        fwGemmDefaults(static_cast<fwGemmType>(pick(0, 3)), static_cast<fwGemmOrder>(pick(0, 1)),
                       pick(1, largest), pick(1, largest), pick(number % 16 ? 1 : 0, largest));
    if (number % 10 == 9) p.k = 0;
    p.transpose_a = pick(0, 1);
    p.transpose_b = pick(0, 1);
    const bool rows = p.order == FW_GEMM_ROW_MAJOR;
    const auto extent = [&](int64_t r, int64_t s, bool swapped) { return rows != swapped ? s : r; };
    const int slack = pick(0, 2) == 0 ? pick(0, 9) : 0;
    p.lda = std::max<int64_t>(1, extent(p.m, p.k, p.transpose_a)) + slack;
    p.ldb = std::max<int64_t>(1, extent(p.k, p.n, p.transpose_b)) + slack;
    p.ldd = extent(p.m, p.n, false) + (pick(0, 1) ? slack : 0);
    p.ldc = extent(p.m, p.n, false) + slack;
    p.batch = pick(0, 3) == 0 ? pick(2, 4) : 1;
    const size_t bytes = p.type <= FW_GEMM_FP16 ? 2 : 4;
    const auto count = [&](int64_t r, int64_t s, int64_t ld, bool swapped) {  // elements of one product
      const int64_t contiguous = extent(r, s, swapped), others = extent(s, r, swapped);
      return contiguous == 0 || others == 0 ? int64_t{0} : (others - 1) * ld + contiguous;
    };
    const int64_t a_count = count(p.m, p.k, p.lda, p.transpose_a);
    const int64_t b_count = count(p.k, p.n, p.ldb, p.transpose_b);
    const int64_t c_count = count(p.m, p.n, p.ldc, false), d_count = count(p.m, p.n, p.ldd, false);
    const int gap = pick(0, 3);
    p.stride_a = pick(0, 3) == 0 ? 0 : a_count + gap;
    p.stride_b = b_count + gap;
    p.stride_c = c_count + gap;
    p.stride_d = d_count + gap;
    p.alpha = pick(0, 1) ? 1.0f : 0.75f;
    p.beta = pick(0, 2) == 0 ? -0.5f : 0.0f;
    const int offset = pick(0, 1) ? pick(0, 7) : 0;
    Buffer a((a_count + p.stride_a * (p.batch - 1)) * bytes, offset * bytes);
    Buffer b((b_count + p.stride_b * (p.batch - 1)) * bytes, offset * bytes);
    Buffer c((c_count + p.stride_c * (p.batch - 1)) * bytes, offset * bytes);
    Buffer d((d_count + p.stride_d * (p.batch - 1)) * bytes, (pick(0, 1) ? offset : 0) * bytes);
    Buffer bias(extent(p.m, p.n, false) * bytes, 0);
    fill(a, p.type, random);
    fill(b, p.type, random);
    fill(c, p.type, random);
    fill(d, p.type, random);
    fill(bias, p.type, random);
    p.a = a.data;
    p.b = b.data;
    p.d = d.data;
    p.c = pick(0, 2) == 0 ? c.data : nullptr;
    if (p.type <= FW_GEMM_FP16 && pick(0, 2) == 0) {
      p.bias = pick(0, 1) ? bias.data : nullptr;
      p.activation = static_cast<fwGemmActivation>(pick(0, 2));
    }
    std::vector<char> before(d.bytes), after(d.bytes);
    must(cudaMemcpy(before.data(), d.base, d.bytes, cudaMemcpyDeviceToHost), "before");
    const int64_t total = p.m * p.n * p.batch;
    Buffer expected(total * 2 * sizeof(double), 0);
    reference<<<(total + 127) / 128, 128>>>(p, p.c != nullptr ? p.c : p.d,
                                            static_cast<double*>(expected.data));
    std::vector<double> want(total * 2);
    must(cudaMemcpy(want.data(), expected.data, expected.bytes, cudaMemcpyDeviceToHost), "reference");

    const bool captured = number % 5 == 4;
    fwGemmStatus status;
    if (captured) {
      fwGemmPrepare(gemm, &p, stream);
      cudaGraph_t graph;
      cudaGraphExec_t executable;
      must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
      status = fwGemmRun(gemm, &p, stream);
      must(cudaStreamEndCapture(stream, &graph), "end of capture");
      if (status == FW_GEMM_OK) {
        must(cudaGraphInstantiate(&executable, graph, 0), "instantiate");
        must(cudaGraphLaunch(executable, stream), "replay");
        must(cudaStreamSynchronize(stream), "replayed");
        cudaGraphExecDestroy(executable);
      }
      cudaGraphDestroy(graph);
    } else {
      status = fwGemmRun(gemm, &p, stream);
    }
    must(cudaStreamSynchronize(stream), "product");
    char line[512];
    fwGemmExplain(gemm, &p, line, sizeof(line));
    if (status == FW_GEMM_UNSUPPORTED) {
      ++unsupported;
      continue;
    }
    if (status != FW_GEMM_OK) {
      std::printf("FAIL %d: %s | %s\n", number, fwGemmMessage(), line);
      ++failures;
      continue;
    }
    must(cudaMemcpy(after.data(), d.base, d.bytes, cudaMemcpyDeviceToHost), "after");
    const size_t d_offset = static_cast<char*>(d.data) - static_cast<char*>(d.base);
    double error = 0, norm = 0;
    bool outside = false, far = false;
    std::vector<bool> ours(d.bytes / bytes, false);
    for (int64_t i = 0; i < total; ++i) {
      const int64_t s = i % p.n, r = i / p.n % p.m, q = i / p.n / p.m;
      const int64_t index = q * p.stride_d + (rows ? r * p.ldd + s : s * p.ldd + r);
      ours[d_offset / bytes + index] = true;
      const double got = load(after.data() + d_offset, p.type, index);
      const double difference = std::fabs(got - want[2 * i]);
      error += difference * difference;
      norm += want[2 * i] * want[2 * i];
      // Rounding of the result, and of operands for tf32, against the sum of magnitudes.
      const double unit = p.type == FW_GEMM_BF16 ? 8e-3 : p.type == FW_GEMM_FP16 ? 1e-3 : 2e-3;
      if (!(difference <= unit * std::fabs(want[2 * i]) + 2e-3 * want[2 * i + 1] + 1e-6)) far = true;
    }
    for (size_t i = 0; i < ours.size(); ++i) {
      if (!ours[i] && std::memcmp(&before[i * bytes], &after[i * bytes], bytes) != 0) outside = true;
    }
    const double relative = norm == 0 ? std::sqrt(error) : std::sqrt(error / norm);
    worst = std::max(worst, relative);
    if (far || outside || !(relative < 6e-3)) {
      std::printf("FAIL %d: %s%s error %.2e beta %g alpha %g bias %d act %d c %d offset %d %s %s| %s\n",
                  number, kTypes[p.type], outside ? " wrote outside D," : "", relative, p.beta, p.alpha,
                  p.bias != nullptr, p.activation, p.c != nullptr, offset, rows ? "row" : "col",
                  captured ? "captured " : "", line);
      ++failures;
    }
  }
  fwGemmDestroy(gemm);
  std::printf("gemm_check: %d cases, %d failed, %d not supported by cuBLASLt, worst relative error %.2e\n",
              cases, failures, unsupported, worst);
  return failures != 0;
}
