// From the public problem to the one form of problem.h.
#ifndef FULLWARP_GEMM_SRC_CONVERT_H_
#define FULLWARP_GEMM_SRC_CONVERT_H_

#include "fullwarp/gemm.h"
#include "problem.h"

namespace fullwarp::gemm {

// Null, or what is wrong with `given` in words.
const char* convert(const fwGemmProblem& given, Problem& out);

}  // namespace fullwarp::gemm
#endif  // FULLWARP_GEMM_SRC_CONVERT_H_
