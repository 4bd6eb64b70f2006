// The rows. One source string per document; a figure that a maker's document does not state names who does,
// and a figure that nobody states is 0 and not shown. A source that says `quoted by` was read there, in the
// public source of NVIDIA's or PyTorch's tools, on 2026-12-01; deviceQuery's output was read in public logs of
// the part. What says `not confirmed` was seen in no public text of that day.
//
// Warps, blocks, shared memory and its carve-outs of every SM were compared with two of NVIDIA's own tables,
// in cuda_occupancy.h of CUDA 13.0 and CCCL's cuda/__device/arch_traits.h (both 2026-11-30); the rates of the
// parts with SMs x clock x operations per clock (tests/gpu/table_test.cpp).
#include "gpu/gpu.h"

namespace fullwarp::gpu {
namespace {

// clang-format off
constexpr std::string_view kGuide =
    "CUDA C++ Programming Guide 13.0, technical specifications per compute capability";
constexpr std::string_view kGuideVolta =  // 13.0 no longer speaks of 7.0
    "CUDA C++ Programming Guide 12.9, technical specifications per compute capability";
constexpr std::string_view kThroughput =
    "CUDA C++ Programming Guide 12.9, throughput of native arithmetic instructions";
constexpr std::string_view kBlackwell = "NVIDIA RTX Blackwell architecture white paper, quoted in public benchmarks";
constexpr std::string_view kOccupancy = "cuda_occupancy.h of CUDA 13.0";
constexpr std::string_view kRates = "product of SMs, boost clock and the SM's operations per clock";

constexpr uint32_t kCarve70[] = {0, 8, 16, 32, 64, 96};
constexpr uint32_t kCarve75[] = {32, 64};
constexpr uint32_t kCarve80[] = {0, 8, 16, 32, 64, 100, 132, 164};
constexpr uint32_t kCarve86[] = {0, 8, 16, 32, 64, 100};
constexpr uint32_t kCarve90[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};

constexpr uint32_t KB(uint32_t n) { return n * 1024; }

constexpr Sm sm(uint32_t version, uint32_t warps, uint32_t blocks, uint32_t shared_kb, uint32_t optin_kb,
                std::span<const uint32_t> carve_outs, uint32_t l1_kb, uint32_t fp32, uint32_t fp64, uint32_t int32) {
  const bool ampere = version >= 80;
  const std::string_view guide = version == 70 ? kGuideVolta : kGuide;
  return {version,
          {warps, guide}, {blocks, guide}, {KB(shared_kb), guide},
          {KB(48), guide}, {KB(optin_kb), guide}, {ampere ? KB(1) : 0, guide},
          {ampere ? 128u : 256u, kOccupancy}, {carve_outs, kOccupancy}, {KB(l1_kb), guide},
          {65536, guide}, {255, guide}, {256, kOccupancy}, {4, kOccupancy},
          {fp32, kThroughput}, {fp64, kThroughput}, {int32, version == 120 ? kBlackwell : kThroughput},
          {16, kThroughput}};
}

//                    warps blocks shared optin carve-outs l1  fp32 fp64 int32
constexpr Sm kSms[] = {
    sm(70, 64, 32,  96,  96, kCarve70, 128,  64, 32, 64),
    sm(75, 32, 16,  64,  64, kCarve75,  96,  64,  2, 64),
    sm(80, 64, 32, 164, 163, kCarve80, 192,  64, 32, 64),
    sm(86, 48, 16, 100,  99, kCarve86, 128, 128,  2, 64),
    sm(87, 48, 16, 164, 163, kCarve80, 192, 128,  0,  0),
    sm(89, 48, 24, 100,  99, kCarve86, 128, 128,  2, 64),
    sm(90, 64, 32, 228, 227, kCarve90, 256, 128, 64, 64),
    sm(100, 64, 32, 228, 227, kCarve90, 256, 128, 64, 0),
    sm(103, 64, 32, 228, 227, kCarve90, 256, 128,  0, 0),
    sm(110, 48, 24, 228, 227, kCarve90, 256, 128,  0, 0),
    sm(120, 48, 24, 100,  99, kCarve86, 128, 128,  2, 128),
    sm(121, 48, 24, 100,  99, kCarve86, 128, 128,  0, 0),
};

constexpr const Sm* row(uint32_t version) {
  for (const Sm& s : kSms)
    if (s.version == version) return &s;
  return nullptr;
}

constexpr std::string_view kH200 = "NVIDIA H200 data sheet (dense: half of what TensorRT-LLM's cluster_info.py quotes)",
    kH100 = "NVIDIA H100 data sheet, quoted by TensorRT-LLM's cluster_info.py",
    kH100Sheet = "NVIDIA H100 data sheet, not confirmed", kH200Sheet = "NVIDIA H200 data sheet, not confirmed",
    kHopper = "NVIDIA H100 architecture white paper, not confirmed", kGh200 = "NVIDIA GH200 data sheet, not confirmed",
    kA100 = "NVIDIA A100 data sheet, quoted by TensorRT-LLM's cluster_info.py",
    kA100Sheet = "NVIDIA A100 data sheet, quoted by PyTorch's inductor/analysis/device_info.py",
    kAmpere = "NVIDIA A100 architecture white paper, not confirmed",
    kL4 = "NVIDIA L4 data sheet, quoted by TensorRT-LLM's cluster_info.py",
    kL4Sheet = "NVIDIA L4 data sheet, quoted by PyTorch's inductor/analysis/device_info.py",
    kL4Clock = "NVIDIA L4 product brief, not confirmed (58 SMs at 2040 MHz give the data sheet's 30.3 TFLOP/s)",
    kL40s = "NVIDIA L40S data sheet, quoted by TensorRT-LLM's cluster_info.py",
    kL40sSheet = "NVIDIA L40S data sheet, not confirmed",
    kAda = "NVIDIA Ada architecture white paper, quoted in public benchmarks",
    kGa102 = "NVIDIA GA102 architecture white paper, not confirmed",
    kA10 = "NVIDIA A10 data sheet, quoted by TensorRT-LLM's cluster_info.py",
    kA10Sheet = "NVIDIA A10 data sheet, not confirmed",
    kT4 = "NVIDIA T4 data sheet, quoted by third parties (SMs x clock x operations agree)",
    kV100 = "NVIDIA V100 data sheet, not confirmed (a third party's catalogue agrees)",
    kVolta = "NVIDIA V100 architecture white paper, not confirmed (a third party's catalogue agrees)",
    kB200 = "NVIDIA HGX B200 data sheet, per GPU, not confirmed",
    kB200Half = "NVIDIA Blackwell data sheet, quoted by torchtitan's tools/utils.py",
    kBlackwellTuning = "NVIDIA Blackwell tuning guide 13.0",
    kReported = "as CUDA device properties report it (deviceQuery)",
    kTriton = "as CUDA device properties report it (Triton's records)",
    kUnconfirmed = "as CUDA device properties report it, not confirmed",
    kBrief = "NVIDIA product brief, not confirmed (a third party's catalogue agrees)",
    kMeasuredH200 = "read on an H200 (CUDA device properties)";

constexpr Gpu kGpus[] = {
    {.name = "h200", .title = "NVIDIA H200 SXM", .sm = row(90), .sms = {132, kMeasuredH200}, .boost_mhz = {1980, kReported},
     .l2_kb = {60 * 1024, kMeasuredH200}, .dram_gb = {141, kH200}, .dram_gb_per_s = {4800, kH200},
     .fp32_tflops = {67, kH200}, .fp64_tflops = {34, kH200Sheet}, .tf32_tflops = {495, kH200Sheet},
     .f16_tensor_tflops = {989, kH200}, .int8_tops = {1979, kH200}},
    {.name = "h100", .title = "NVIDIA H100 SXM", .sm = row(90), .sms = {132, kReported}, .boost_mhz = {1980, kReported},
     .l2_kb = {50 * 1024, kReported}, .dram_gb = {80, kH100}, .dram_gb_per_s = {3350, kH100},
     .fp32_tflops = {67, kH100Sheet}, .fp64_tflops = {34, kH100Sheet}, .tf32_tflops = {495, kH100},
     .f16_tensor_tflops = {989, kH100}, .int8_tops = {1979, kH100}},
    {.name = "h100-pcie", .title = "NVIDIA H100 PCIe", .sm = row(90), .sms = {114, kHopper}, .boost_mhz = {1755, kHopper},
     .l2_kb = {50 * 1024, kHopper}, .dram_gb = {80, kH100}, .dram_gb_per_s = {2000, kH100},
     .fp32_tflops = {51, kHopper}, .fp64_tflops = {26, kHopper}, .tf32_tflops = {378, kH100},
     .f16_tensor_tflops = {756, kH100}, .int8_tops = {1513, kH100}},
    {.name = "gh200", .title = "NVIDIA GH200 (96 GB HBM3)", .sm = row(90), .sms = {132, kReported},
     .boost_mhz = {1980, kReported}, .l2_kb = {60 * 1024, kReported}, .dram_gb = {96, kGh200},
     .dram_gb_per_s = {4000, kGh200}, .fp32_tflops = {67, kGh200}, .fp64_tflops = {34, kGh200},
     .tf32_tflops = {495, kGh200}, .f16_tensor_tflops = {990, kGh200}, .int8_tops = {1979, kGh200}},
    {.name = "b200", .title = "NVIDIA B200 SXM", .sm = row(100), .sms = {148, kTriton}, .boost_mhz = {1965, kUnconfirmed},
     .l2_kb = {126 * 1024, kBlackwellTuning}, .dram_gb = {180, kB200}, .dram_gb_per_s = {7700, kB200},
     .fp32_tflops = {75, kB200}, .fp64_tflops = {37, kB200}, .tf32_tflops = {1100, kB200},
     .f16_tensor_tflops = {2250, kB200Half}, .int8_tops = {4500, kB200}},
    {.name = "a100", .title = "NVIDIA A100 SXM 80 GB", .sm = row(80), .sms = {108, kReported}, .boost_mhz = {1410, kReported},
     .l2_kb = {40 * 1024, kReported}, .dram_gb = {80, kA100}, .dram_gb_per_s = {2039, kA100},
     .fp32_tflops = {19.5, kA100Sheet}, .fp64_tflops = {9.7, kAmpere}, .tf32_tflops = {156, kA100},
     .f16_tensor_tflops = {312, kA100}, .int8_tops = {624, kA100}},
    {.name = "a100-40gb", .title = "NVIDIA A100 SXM 40 GB", .sm = row(80), .sms = {108, kReported},
     .boost_mhz = {1410, kReported}, .l2_kb = {40 * 1024, kReported}, .dram_gb = {40, kA100},
     .dram_gb_per_s = {1555, kA100}, .fp32_tflops = {19.5, kA100Sheet}, .fp64_tflops = {9.7, kAmpere},
     .tf32_tflops = {156, kA100}, .f16_tensor_tflops = {312, kA100}, .int8_tops = {624, kA100}},
    {.name = "v100", .title = "NVIDIA V100 SXM2", .sm = row(70), .sms = {80, kVolta}, .boost_mhz = {1530, kVolta},
     .l2_kb = {6 * 1024, kVolta}, .dram_gb = {32, kV100}, .dram_gb_per_s = {900, kV100},
     .fp32_tflops = {15.7, kV100}, .fp64_tflops = {7.8, kV100}, .f16_tensor_tflops = {125, kV100}},
    {.name = "t4", .title = "NVIDIA T4", .sm = row(75), .sms = {40, kReported}, .boost_mhz = {1590, kReported}, .base_mhz = {585, kBrief},
     .l2_kb = {4 * 1024, kReported}, .dram_gb = {16, kT4}, .dram_gb_per_s = {320, kT4},
     .fp32_tflops = {8.1, kT4}, .f16_tensor_tflops = {65, kT4}, .int8_tops = {130, kT4}},
    {.name = "a10", .title = "NVIDIA A10", .sm = row(86), .sms = {72, kReported}, .boost_mhz = {1695, kReported}, .base_mhz = {885, kBrief},
     .l2_kb = {6 * 1024, kReported}, .dram_gb = {24, kA10}, .dram_gb_per_s = {600, kA10},
     .fp32_tflops = {31.2, kA10Sheet}, .tf32_tflops = {62.5, kA10}, .f16_tensor_tflops = {125, kA10}, .int8_tops = {250, kA10}},
    {.name = "l4", .title = "NVIDIA L4", .sm = row(89), .sms = {58, kTriton}, .boost_mhz = {2040, kL4Clock}, .base_mhz = {795, kBrief},
     .l2_kb = {48 * 1024, kUnconfirmed}, .dram_gb = {24, kL4}, .dram_gb_per_s = {300, kL4},
     .fp32_tflops = {30.3, kL4Sheet}, .tf32_tflops = {60, kL4}, .f16_tensor_tflops = {121, kL4Sheet}, .int8_tops = {242, kL4}},
    {.name = "l40s", .title = "NVIDIA L40S", .sm = row(89), .sms = {142, kReported}, .boost_mhz = {2520, kReported}, .base_mhz = {1110, kBrief},
     .l2_kb = {96 * 1024, kReported}, .dram_gb = {48, kL40s}, .dram_gb_per_s = {864, kL40s},
     .fp32_tflops = {91.6, kL40sSheet}, .tf32_tflops = {183, kL40s}, .f16_tensor_tflops = {362, kL40s}, .int8_tops = {733, kL40s}},
    {.name = "rtx3090", .title = "NVIDIA GeForce RTX 3090", .sm = row(86), .sms = {82, kReported}, .boost_mhz = {1695, kGa102},
     .l2_kb = {6 * 1024, kReported}, .dram_gb = {24, kGa102}, .dram_gb_per_s = {936, kGa102},
     .fp32_tflops = {35.6, kGa102}, .fp64_tflops = {0.56, kRates}, .tf32_tflops = {35.6, kGa102},
     .f16_tensor_tflops = {71, kGa102}, .int8_tops = {285, kGa102}},
    {.name = "rtx4090", .title = "NVIDIA GeForce RTX 4090", .sm = row(89), .sms = {128, kReported}, .boost_mhz = {2520, kReported},
     .l2_kb = {72 * 1024, kReported}, .dram_gb = {24, kAda}, .dram_gb_per_s = {1008, kAda},
     .fp32_tflops = {82.6, kAda}, .fp64_tflops = {1.29, kRates}, .tf32_tflops = {82.6, kAda},
     .f16_tensor_tflops = {165.2, kAda}, .int8_tops = {660.6, kAda}},
    {.name = "rtx5090", .title = "NVIDIA GeForce RTX 5090", .sm = row(120), .sms = {170, kReported},
     .boost_mhz = {2407, kReported}, .l2_kb = {96 * 1024, kReported}, .dram_gb = {32, kBlackwell},
     .dram_gb_per_s = {1792, kBlackwell}, .fp32_tflops = {104.8, kBlackwell}, .fp64_tflops = {1.64, kRates},
     .tf32_tflops = {104.8, kBlackwell}, .f16_tensor_tflops = {209.5, kBlackwell}, .int8_tops = {838, kBlackwell}},
};
// clang-format on

}  // namespace

std::span<const Sm> sms() { return kSms; }
std::span<const Gpu> gpus() { return kGpus; }

}  // namespace fullwarp::gpu
