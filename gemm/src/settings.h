// What the environment asks for.
//
//   FULLWARP_GEMM_LOG=1 (or a file's name)   a line for each product: choice, reason, predictions
//   FULLWARP_GEMM_WORKSPACE_MB=1024          the most that a stream's workspace takes
//   FULLWARP_GEMM_MODE=auto|plain|staged|fused
//                                            staged, fused: whatever is misaligned (fused where it can be),
//                                            without asking the cost model
#ifndef FULLWARP_GEMM_SRC_SETTINGS_H_
#define FULLWARP_GEMM_SRC_SETTINGS_H_

#include <cstddef>
#include <string>

namespace fullwarp::gemm {

enum class Mode { kAuto, kPlain, kStaged, kFused };

struct Settings {
  size_t workspace_bytes = size_t{1024} << 20;
  Mode mode = Mode::kAuto;
  bool log = false;
  std::string log_file;  // empty: standard error

  static Settings from_environment();
  void write_log(const std::string& line) const;
};

}  // namespace fullwarp::gemm
#endif  // FULLWARP_GEMM_SRC_SETTINGS_H_
