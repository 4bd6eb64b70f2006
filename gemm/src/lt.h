// Products through cuBLASLt, with descriptors and algorithm chosen once for a shape.
#ifndef FULLWARP_GEMM_SRC_LT_H_
#define FULLWARP_GEMM_SRC_LT_H_

#include <cublasLt.h>

#include <array>
#include <map>
#include <memory>
#include <mutex>

#include "execute.h"

namespace fullwarp::gemm {

constexpr size_t kLtWorkspaceBytes = size_t{32} << 20;  // what NVIDIA advises for sm_90

// What the product needs beyond its Problem.
struct LtCall {
  const void* alpha = nullptr;  // on the host, or on the device where scalars_on_device
  const void* beta = nullptr;
  bool scalars_on_device = false;
  int activation = 0;  // 0 none, 1 ReLU, 2 GELU
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
  cudaStream_t stream = nullptr;
};

class LtProducts {
 public:
  LtProducts();
  ~LtProducts();
  LtProducts(const LtProducts&) = delete;
  LtProducts& operator=(const LtProducts&) = delete;

  cublasStatus_t status() const { return status_; }
  cublasStatus_t run(const Problem& problem, const Piece& piece, const LtCall& call);

 private:
  // All that the choice of an algorithm depends on.
  using Key = std::array<int64_t, 20>;
  struct Prepared;
  std::shared_ptr<Prepared> prepare(const Problem& problem, const Piece& piece, const LtCall& call,
                                    cublasStatus_t& status);

  cublasLtHandle_t handle_ = nullptr;
  cublasStatus_t status_;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Prepared>> prepared_;
};

}  // namespace fullwarp::gemm
#endif  // FULLWARP_GEMM_SRC_LT_H_
