// What fullwarp knows about GPUs: the limits of every compute capability (one row each) and, on top, the
// parts that are sold (one row each). Every figure carries its source in words, for `fullwarp gpus` and for
// whoever doubts it. The rows stand in table.cpp, look-up by name in find.cpp, launch checks in launch.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/warp.h"

namespace fullwarp::gpu {

template <class T>
struct Sourced {
  T value = {};
  std::string_view source;
  constexpr operator T() const { return value; }
};

// Limits that all GPUs of one compute capability share.
struct Sm {
  uint32_t version = 0;                              // 90 for compute capability 9.0
  Sourced<uint32_t> warps;                           // resident on an SM
  Sourced<uint32_t> blocks;                          // resident on an SM
  Sourced<uint32_t> shared_bytes;                    // per SM
  Sourced<uint32_t> block_shared_bytes;              // that a block gets without opting in
  Sourced<uint32_t> block_shared_optin_bytes;        // ... at most
  Sourced<uint32_t> block_shared_reserved_bytes;     // that the driver takes on top for every block
  Sourced<uint32_t> shared_unit_bytes;               // allocation granularity
  Sourced<std::span<const uint32_t>> carve_outs_kb;  // sizes the shared part of L1 can take, rising
  Sourced<uint32_t> l1_bytes;                        // L1 and shared memory together, per SM
  Sourced<uint32_t> registers;                       // 32-bit, per SM; also the most a block may use
  Sourced<uint32_t> thread_registers;                // most per thread
  Sourced<uint32_t> register_unit;                   // allocation granularity, registers per warp
  Sourced<uint32_t> sub_partitions;                  // warp schedulers, each with its share of the registers
  // Operations of one SM in one clock (an fma is one).
  Sourced<uint32_t> fp32_per_clock, fp64_per_clock, int32_per_clock, sfu_per_clock;
};

struct Gpu {
  std::string_view name;   // as --gpu takes it: "h200"
  std::string_view title;  // "NVIDIA H200 SXM"
  const Sm* sm = nullptr;
  Sourced<uint32_t> sms;
  Sourced<uint32_t> boost_mhz;
  Sourced<uint32_t> base_mhz = {};  // that the maker guarantees under load; 0: the source states none
  Sourced<uint32_t> l2_kb;
  Sourced<uint32_t> dram_gb;      // 10^9 bytes, as sold
  Sourced<double> dram_gb_per_s;  // 10^9 bytes a second, peak
  // Peak rates, 10^12 operations a second (an fma is two), dense; 0: the source states none.
  Sourced<double> fp32_tflops = {}, fp64_tflops = {}, tf32_tflops = {}, f16_tensor_tflops = {},
                  int8_tops = {};
};

std::span<const Sm> sms();            // rising versions
std::span<const Gpu> gpus();          // in the order `fullwarp gpus` shows
const Sm* find_sm(uint32_t version);  // 90; nullptr if unknown
const Gpu* find_gpu(
    std::string_view name);  // upper or lower case, "RTX 4090" and "rtx-4090" alike; or nullptr
const Gpu& default_gpu();    // h200

// The same with an error that names what was meant: "unknown GPU `h20O`", hint "did you mean h200? ...".
Result<const Gpu*> gpu_named(std::string_view name);

// Every limit of a GPU as text, in display order.
struct Limit {
  std::string name, value;
  std::string_view unit, source;
};
std::vector<Limit> limits(const Gpu& gpu);

// Limits of a launch that are the same on every GPU here (CUDA programming guide, technical specifications).
inline constexpr uint32_t kMaxBlockThreads = 1024;
inline constexpr Dim3 kMaxBlock = {1024, 1024, 64};
inline constexpr Dim3 kMaxGrid = {0x7fffffff, 65535, 65535};

struct LaunchCheck {
  bool needs_shared_optin = false;  // cudaFuncSetAttribute(MaxDynamicSharedMemorySize) in a real program
};

// Would the driver accept this launch? The error says which limit and by how much. `thread_registers` 0:
// unknown.
Result<LaunchCheck> check_launch(const Gpu& gpu, Dim3 grid, Dim3 block, uint64_t static_shared_bytes,
                                 uint64_t dynamic_shared_bytes, uint32_t thread_registers = 0);

}  // namespace fullwarp::gpu
