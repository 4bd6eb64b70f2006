// What does the hardware count for cp.async? One warp, one copy instruction, rows of lanes at chosen pitches.
//
//   nvcc -arch=sm_90 -o cp_async hw/probes/cp_async.cu
//   ncu --clock-control none --csv --page raw --metrics memory_l1_wavefronts_shared,... ./cp_async
//
// Prints one line a launch, in the order of the profiler's rows. Readings: tests/hardware/h200_cp_async.csv.
#include <cuda_runtime.h>

#include <cstdio>

struct Pattern {
  int lanes_per_row, global_pitch, shared_pitch, global_offset,
      shared_offset;  // pitches and offsets in bytes
};

template <int kBytes, bool kBypassL1>
__global__ void copy(const char* from, float* out, Pattern p) {
  extern __shared__ char shared[];
  int lane = threadIdx.x, row = lane / p.lanes_per_row, in_row = lane % p.lanes_per_row * kBytes;
  auto to = static_cast<unsigned>(
      __cvta_generic_to_shared(shared + p.shared_offset + row * p.shared_pitch + in_row));
  const char* source = from + p.global_offset + row * p.global_pitch + in_row;
  if (kBypassL1) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(source) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(source), "n"(kBytes) : "memory");
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncwarp();
  out[lane] = reinterpret_cast<float*>(shared)[lane];  // keeps the copy alive: one wavefront, four sectors
}

template <int kBytes, bool kBypassL1>
void run(Pattern p, const char* from, float* out) {
  if (p.lanes_per_row > 1 && p.lanes_per_row < 32) p.lanes_per_row *= 16 / kBytes;  // rows of the same bytes
  std::printf("%s,%d,%d,%d,%d,%d,%d\n", kBypassL1 ? "cg" : "ca", kBytes, p.lanes_per_row, p.global_pitch,
              p.shared_pitch, p.global_offset, p.shared_offset);
  copy<kBytes, kBypassL1><<<1, 32, 16384>>>(from, out, p);
  cudaDeviceSynchronize();
}

int main() {
  char* from = nullptr;
  float* out = nullptr;
  cudaMalloc(&from, 1 << 20);
  cudaMalloc(&out, 4096);
  const Pattern patterns[] = {
      {32, 0, 0, 0, 0},     {8, 128, 128, 0, 0}, {8, 256, 128, 0, 0}, {8, 256, 144, 0, 0},
      {8, 128, 144, 0, 0},  {4, 64, 64, 0, 0},   {4, 256, 64, 0, 0},  {4, 256, 80, 0, 0},
      {4, 64, 80, 0, 0},    {2, 256, 32, 0, 0},  {1, 256, 16, 0, 0},  {1, 16, 256, 0, 0},
      {1, 256, 256, 0, 0},  {32, 0, 0, 64, 0},   {32, 0, 0, 16, 0},   {32, 0, 0, 0, 16},
      {8, 256, 128, 64, 0}, {8, 256, 160, 0, 0}, {8, 256, 272, 0, 0}, {16, 512, 256, 0, 0},
      {16, 512, 272, 0, 0}, {4, 128, 80, 0, 0},  {4, 128, 64, 0, 0},
  };
  for (const Pattern& p : patterns) run<16, true>(p, from, out);
  for (const Pattern& p : patterns) run<16, false>(p, from, out);
  for (const Pattern& p : patterns) run<8, false>(p, from, out);
  for (const Pattern& p : patterns) run<4, false>(p, from, out);
  std::fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
}
