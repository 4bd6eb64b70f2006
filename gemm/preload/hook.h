// What every preloaded entry does between the program and cuBLAS.
#ifndef FULLWARP_GEMM_PRELOAD_HOOK_H_
#define FULLWARP_GEMM_PRELOAD_HOOK_H_

#include <cstdint>

#include "../src/device.h"
#include "../src/execute.h"

namespace fullwarp::gemm {

// The device behind the hook; the tests' library has another.
Device& hook_device();

// cuBLAS calls itself (cublasGemmEx calls cublasLtMatmul), and so do we: calls from inside pass through.
class Inside {
 public:
  Inside() { ++depth; }
  ~Inside() { --depth; }
  static bool already() { return depth > 0; }

 private:
  static thread_local int depth;
};

// Runs `problem`: `multiply` once as called (piece is the whole), or staged. `stream` is asked for only where
// something is to be staged. Returns what `multiply` returned, or `copy_failed`.
struct Hooked {
  const Problem* problem;
  Multiply multiply;
  Stream (*stream)(void* caller);
  void* caller;
  int copy_failed;
};
int run_hooked(const Hooked& call);

// The whole problem as one piece.
Piece whole_piece(const Problem& problem);

// False where every address, pitch and contiguous extent is aligned: nothing to decide. Tens of nanoseconds.
bool is_misaligned(const Problem& problem);

// Whether calls are counted even if aligned (FULLWARP_GEMM_TABLE).
bool table_wanted();

}  // namespace fullwarp::gemm
#endif  // FULLWARP_GEMM_PRELOAD_HOOK_H_
