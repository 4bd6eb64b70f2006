// What the environment asks for.
//
//   FULLWARP_GEMM_LOG=1 (or a file's name)   a line for each product: choice, reason, predictions
//   FULLWARP_GEMM_WORKSPACE_MB=1024          the most that a stream's workspace takes
//   FULLWARP_GEMM_MODE=auto|plain|staged|fused|ahead
//                                            staged, fused: whatever is misaligned (fused where it can be),
//                                            without asking the cost model; ahead: fused, and operands are
//                                            copied by the product itself
//   FULLWARP_GEMM_TILE=64|128|192|256        our own kernel's tiles, for checks
#ifndef FULLWARP_GEMM_SRC_SETTINGS_H_
#define FULLWARP_GEMM_SRC_SETTINGS_H_

#include <cstddef>
#include <string>

namespace fullwarp::gemm {

enum class Mode { kAuto, kPlain, kStaged, kFused, kAhead };

struct Settings {
  size_t workspace_bytes = size_t{1024} << 20;
  Mode mode = Mode::kAuto;
  int tile_columns = 0;  // 0: as the cost model finds best
  bool log = false;
  std::string log_file;  // empty: standard error

  static Settings from_environment();
  void write_log(const std::string& line) const;
};

}  // namespace fullwarp::gemm
#endif  // FULLWARP_GEMM_SRC_SETTINGS_H_
