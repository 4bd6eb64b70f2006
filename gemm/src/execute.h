// Runs a staged plan: copies, the caller's own product call on the staged operands, copies back; piece by
// piece.
//
// The product call is the caller's: cublasLtMatmul for the C interface, whichever cuBLAS entry a program used
// for the preloaded library. So every property of that entry (stream, pointer and math mode, epilogue) stays
// as it is.
#ifndef FULLWARP_GEMM_SRC_EXECUTE_H_
#define FULLWARP_GEMM_SRC_EXECUTE_H_

#include "device.h"
#include "plan.h"

namespace fullwarp::gemm {

// Operands of one piece. Where nothing is staged they are the caller's own.
struct Piece {
  struct Part {
    uintptr_t data;
    int64_t ld;
    int64_t stride;
  };
  Part a, b, c, d;
  uintptr_t bias;   // 0: none
  int64_t m, n, k;  // of this piece, padded as the plan says
  int64_t batch;
  int64_t first_column;
  int64_t first_product;
  bool staged;  // false: the problem as the caller gave it
};

// Returns 0 on success, else a status of the caller's that ends the run.
using Multiply = int (*)(void* caller, const Piece& piece);

constexpr int kCopyFailed = -1;

// `plan` must be staged or fused and `workspace` hold plan.bytes. Returns 0, kCopyFailed or what `multiply`
// returned.
int execute(const Problem& problem, const Plan& plan, uintptr_t workspace, Device& device, Stream stream,
            Multiply multiply, void* caller);

}  // namespace fullwarp::gemm
#endif  // FULLWARP_GEMM_SRC_EXECUTE_H_
