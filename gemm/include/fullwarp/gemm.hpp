// The C++ interface of fullwarp/gemm.h: a context that owns itself, and problems built from element types.
//
//     fullwarp::gemm::Gemm gemm;
//     auto p = fullwarp::gemm::problem<__nv_bfloat16>(fullwarp::gemm::Order::kRowMajor, m, n, k);
//     p.a = a; p.b = b; p.d = d;
//     if (fwGemmStatus status = gemm.run(p, stream); status != FW_GEMM_OK) puts(fwGemmMessage());
#ifndef FULLWARP_GEMM_HPP_
#define FULLWARP_GEMM_HPP_

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <memory>
#include <string>

#include "fullwarp/gemm.h"

namespace fullwarp::gemm {

enum class Order { kColumnMajor = FW_GEMM_COLUMN_MAJOR, kRowMajor = FW_GEMM_ROW_MAJOR };

template <class T>
struct TypeOf;
template <>
struct TypeOf<__nv_bfloat16> {
  static constexpr fwGemmType value = FW_GEMM_BF16;
};
template <>
struct TypeOf<__half> {
  static constexpr fwGemmType value = FW_GEMM_FP16;
};
template <>
struct TypeOf<float> {  // set problem.type to FW_GEMM_TF32 for the tensor cores
  static constexpr fwGemmType value = FW_GEMM_FP32;
};

template <class T>
fwGemmProblem problem(Order order, int64_t m, int64_t n, int64_t k) {
  return fwGemmDefaults(TypeOf<T>::value, static_cast<fwGemmOrder>(order), m, n, k);
}

// status() is that of the creation; run() on a context that could not be made returns it again.
class Gemm {
 public:
  Gemm() {
    fwGemm_t made = nullptr;
    status_ = fwGemmCreate(&made);
    context_.reset(made);
  }
  fwGemmStatus status() const { return status_; }
  fwGemmStatus run(const fwGemmProblem& problem, fwGemmStream stream = nullptr) {
    return context_ ? fwGemmRun(context_.get(), &problem, stream) : status_;
  }
  fwGemmStatus prepare(const fwGemmProblem& problem, fwGemmStream stream = nullptr) {
    return context_ ? fwGemmPrepare(context_.get(), &problem, stream) : status_;
  }
  std::string explain(const fwGemmProblem& problem) const {
    char text[512] = "";
    if (context_) fwGemmExplain(context_.get(), &problem, text, sizeof(text));
    return text;
  }

 private:
  struct Destroy {
    void operator()(fwGemm_t gemm) const { fwGemmDestroy(gemm); }
  };
  std::unique_ptr<fwGemmContext, Destroy> context_;
  fwGemmStatus status_;
};

}  // namespace fullwarp::gemm
#endif  // FULLWARP_GEMM_HPP_
