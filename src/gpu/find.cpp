// A GPU by the name a user types, and its limits as text.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

#include "gpu/gpu.h"

namespace fullwarp::gpu {
namespace {

constexpr size_t kLongestName = 64;  // beyond that it is no GPU's, and not worth comparing

// Lower case, without the blanks, dashes and underscores that people write or leave out, and without a
// maker's or brand's name in front.
std::string plain(std::string_view name) {
  std::string text;
  for (char c : name.substr(0, kLongestName))
    if (c != ' ' && c != '-' && c != '_')
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (std::string_view brand : {"nvidia", "geforce", "tesla"})
    if (text.size() > brand.size() && text.starts_with(brand)) text.erase(0, brand.size());
  return text;
}

// Levenshtein distance.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

const Sm* find_sm(uint32_t version) {
  for (const Sm& sm : sms())
    if (sm.version == version) return &sm;
  return nullptr;
}

const Gpu* find_gpu(std::string_view name) {
  if (name.size() > kLongestName) return nullptr;
  const std::string wanted = plain(name);
  for (const Gpu& gpu : gpus())
    if (plain(gpu.name) == wanted) return &gpu;
  return nullptr;
}

const Gpu& default_gpu() { return gpus().front(); }

Result<const Gpu*> gpu_named(std::string_view name) {
  if (const Gpu* gpu = find_gpu(name)) return gpu;
  const std::string wanted = plain(name);
  const Gpu* nearest = nullptr;
  size_t best = 3;  // more than two letters off is no slip of the pen
  for (const Gpu& gpu : gpus()) {
    const std::string candidate = plain(gpu.name);
    const bool begins = wanted.size() >= 2 && (candidate.starts_with(wanted) || candidate.ends_with(wanted));
    const size_t off = begins ? 1 : distance(wanted, candidate);
    if (off < best && off < candidate.size()) {
      best = off;
      nearest = &gpu;
    }
  }
  Error error{fmt::format("unknown GPU `{}`", name.substr(0, kLongestName))};
  std::string known;
  for (const Gpu& gpu : gpus()) known += (known.empty() ? "" : ", ") + std::string(gpu.name);
  error.hint =
      nearest ? fmt::format("did you mean `{}`? known: {}", nearest->name, known) : "known: " + known;
  return error;
}

std::vector<Limit> limits(const Gpu& gpu) {
  std::vector<Limit> out;
  const auto add = [&](std::string_view name, const auto& figure, std::string_view unit, auto scale) {
    if (figure.value == 0) return;
    out.push_back({std::string(name), fmt::format("{}", figure.value / scale), unit, figure.source});
  };
  const Sm& sm = *gpu.sm;
  out.push_back(
      {"compute capability", fmt::format("{}.{}", sm.version / 10, sm.version % 10), "", sm.warps.source});
  add("SMs", gpu.sms, "", 1u);
  add("boost clock", gpu.boost_mhz, "MHz", 1u);
  add("base clock", gpu.base_mhz, "MHz", 1u);
  add("warps per SM", sm.warps, "", 1u);
  add("blocks per SM", sm.blocks, "", 1u);
  add("registers per SM", sm.registers, "", 1u);
  add("registers per thread", sm.thread_registers, "", 1u);
  add("register allocation unit", sm.register_unit, "registers per warp", 1u);
  add("sub-partitions per SM", sm.sub_partitions, "", 1u);
  add("shared memory per SM", sm.shared_bytes, "KB", 1024u);
  add("shared memory per block", sm.block_shared_bytes, "KB", 1024u);
  add("shared memory per block, opt-in", sm.block_shared_optin_bytes, "KB", 1024u);
  add("shared memory reserved per block", sm.block_shared_reserved_bytes, "bytes", 1u);
  add("shared memory allocation unit", sm.shared_unit_bytes, "bytes", 1u);
  std::string carve_outs;
  for (uint32_t kb : sm.carve_outs_kb.value)
    carve_outs += (carve_outs.empty() ? "" : ", ") + std::to_string(kb);
  out.push_back({"shared memory carve-outs", carve_outs, "KB", sm.carve_outs_kb.source});
  add("L1 and shared memory per SM", sm.l1_bytes, "KB", 1024u);
  add("L2", gpu.l2_kb, "KB", 1u);
  add("DRAM", gpu.dram_gb, "GB", 1u);
  add("DRAM bandwidth", gpu.dram_gb_per_s, "GB/s", 1.0);
  add("fp32 operations per clock and SM", sm.fp32_per_clock, "", 1u);
  add("fp64 operations per clock and SM", sm.fp64_per_clock, "", 1u);
  add("int32 operations per clock and SM", sm.int32_per_clock, "", 1u);
  add("special functions per clock and SM", sm.sfu_per_clock, "", 1u);
  add("fp32", gpu.fp32_tflops, "TFLOP/s", 1.0);
  add("fp64", gpu.fp64_tflops, "TFLOP/s", 1.0);
  add("tf32 tensor", gpu.tf32_tflops, "TFLOP/s", 1.0);
  add("f16 and bf16 tensor", gpu.f16_tensor_tflops, "TFLOP/s", 1.0);
  add("int8 tensor", gpu.int8_tops, "TOP/s", 1.0);
  return out;
}

}  // namespace fullwarp::gpu
