// Times the row copies of the GEMM library alone, beside cudaMemcpyAsync of as many bytes.
//
//     gemm_copy OUT.csv
//
// Direction `in` is from the packed pitch to a multiple of 128 bytes, `out` the way back. Graph replay of ten
// copies over rotating buffers, median of 9; bandwidth counts bytes read and bytes written.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "device_cuda.h"

using namespace fullwarp::gemm;

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::FILE* out = std::fopen(argv[1], "w");
  constexpr size_t kPool = size_t{3} << 30;
  char *from, *to;
  if (cudaMalloc(&from, kPool) != cudaSuccess || cudaMalloc(&to, kPool) != cudaSuccess) return 3;
  cudaMemset(from, 1, kPool);
  cudaMemset(to, 2, kPool);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  CudaDevice device;
  device.release(device.allocate(1024));
  std::fprintf(out, "direction,columns,rows,element_bytes,us,TB_per_s,memcpy_us\n");
  struct Shape {
    long columns, rows;
    int bytes;
  };
  for (const Shape& s : {Shape{255, 4096, 2},
                         {1023, 1023, 2},
                         {2047, 2047, 2},
                         {4095, 4095, 2},
                         {4094, 4096, 2},
                         {4092, 4096, 2},
                         {8191, 8191, 2},
                         {50257, 8192, 2},
                         {4095, 4095, 4},
                         {63, 8192, 2}}) {
    for (const bool in : {true, false}) {
      const size_t packed = s.columns * s.bytes;
      const size_t padded = (packed + 127) / 128 * 128;
      const size_t set = (padded * s.rows + 1023) / 1024 * 1024;
      const int sets = static_cast<int>(std::clamp<size_t>(kPool / set, 1, 10));
      double us[2];
      for (const bool plain : {false, true}) {
        cudaGraph_t graph;
        cudaGraphExec_t executable;
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
        for (int i = 0; i < 10; ++i) {
          CopyJob job;
          job.src = reinterpret_cast<uintptr_t>(from + (i % sets) * set);
          job.dst = reinterpret_cast<uintptr_t>(to + (i % sets) * set);
          job.src_pitch = static_cast<int64_t>(in ? packed : padded);
          job.dst_pitch = static_cast<int64_t>(in ? padded : packed);
          job.width = static_cast<int64_t>(packed);
          job.rows = s.rows;
          job.pad = in;
          if (plain) {
            cudaMemcpyAsync(to + (i % sets) * set, from + (i % sets) * set, packed * s.rows,
                            cudaMemcpyDeviceToDevice, stream);
          } else if (!device.copy_rows(&job, 1, stream)) {
            std::fprintf(stderr, "launch failed\n");
            return 3;
          }
        }
        cudaStreamEndCapture(stream, &graph);
        cudaGraphInstantiate(&executable, graph, 0);
        std::vector<float> times;
        for (int i = 0; i < 10; ++i) {
          cudaEventRecord(start, stream);
          cudaGraphLaunch(executable, stream);
          cudaEventRecord(stop, stream);
          if (cudaEventSynchronize(stop) != cudaSuccess) return 3;
          float ms = 0;
          cudaEventElapsedTime(&ms, start, stop);
          if (i > 0) times.push_back(ms);
        }
        std::nth_element(times.begin(), times.begin() + 4, times.end());
        us[plain] = times[4] * 100.0;
        cudaGraphExecDestroy(executable);
        cudaGraphDestroy(graph);
      }
      std::fprintf(out, "%s,%ld,%ld,%d,%.2f,%.3f,%.2f\n", in ? "in" : "out", s.columns, s.rows, s.bytes,
                   us[0], 2e-6 * static_cast<double>(packed) * s.rows / us[0], us[1]);
    }
  }
  std::fclose(out);
  return 0;
}
