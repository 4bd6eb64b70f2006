// What to do with a product, decided on the host from sizes, pitches and addresses alone.
//
//   plain    aligned, or too small to gain: cuBLAS as the caller called it
//   staged   operands with a misaligned pitch or base are copied onto aligned pitches in a workspace,
//            cuBLAS works there, and D goes back to its place (one launch before, one behind)
//   fused    our own kernel copies the operands that need it while it multiplies, and writes D itself:
//            no copy of D, and extents may be odd (sm_90, 16-bit types, one product, beta 0, no GELU)
//
// An aligned pitch alone does not make cuBLAS fast: an extent along which an operand is contiguous must be a
// multiple of 16 bytes too. Such an extent is padded with zeros, in all operands that have it.
//
// A product that does not fit into the workspace is done in pieces of whole products or of columns of D; A is
// copied once. costs.h holds the measured constants.
#ifndef FULLWARP_GEMM_SRC_PLAN_H_
#define FULLWARP_GEMM_SRC_PLAN_H_

#include <string>

#include "costs.h"
#include "problem.h"
#include "settings.h"

namespace fullwarp::gemm {

enum class Choice : uint8_t { kPlain, kStaged, kFused };

constexpr const char* name(Choice choice) {
  constexpr const char* kNames[] = {"plain", "staged", "fused"};
  return kNames[static_cast<int>(choice)];
}

// One operand's place in the workspace. Pitches are multiples of 128 bytes.
struct Stage {
  bool used = false;
  int64_t ld = 0;      // elements
  int64_t stride = 0;  // elements from product to product
  size_t offset = 0;   // bytes from the workspace's start
};

struct Plan {
  Choice choice = Choice::kPlain;
  Stage a, b, d, bias;
  int64_t m = 0, n = 0, k = 0;  // as cuBLAS gets them: padded where they must be
  bool stage_holds_c = false;   // C is copied into D's stage before the product
  bool stage_holds_d = false;   // D is copied from its stage after the product
  int64_t piece_columns = 0;    // of D; n unless the workspace bounds it
  int64_t piece_products = 0;   // batch unless the workspace bounds it
  size_t bytes = 0;             // of workspace
  double plain_us = 0;          // predicted
  double staged_us = 0;         // predicted; 0 where nothing is misaligned
  double fused_us = 0;          // predicted; 0 where it cannot be
  int tile_columns = 256;       // of the fused product
  bool copy_ahead = false;      // the fused product copies A and B itself (copy_ahead.cuh)
  double aligned_us = 0;        // predicted for the next aligned size
  const char* why = "";
};

// `can_fuse`: the GPU has our own kernel. Always succeeds: what cannot be staged within `workspace_bytes` is
// plain.
Plan make_plan(const Problem& problem, const Costs& costs, size_t workspace_bytes, Mode mode = Mode::kAuto,
               bool can_fuse = false);

// One line: sizes, pitches, choice, reason and the predicted microseconds.
std::string describe(const Problem& problem, const Plan& plan);

}  // namespace fullwarp::gemm
#endif  // FULLWARP_GEMM_SRC_PLAN_H_
