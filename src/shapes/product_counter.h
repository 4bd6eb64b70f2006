// Products as they ran, equal ones counted: for logs and lists.
#pragma once

#include <string>
#include <unordered_map>

#include "shapes/read.h"

namespace fullwarp::shapes {

class ProductCounter {
 public:
  // False once there are more than kMaxProducts different ones.
  bool add(const Gemm& gemm, double count, const std::string& name);
  bool empty() const { return operations_.empty(); }
  double calls() const { return calls_; }
  std::vector<Operation> take() && { return std::move(operations_); }

 private:
  struct Hash {
    size_t operator()(const Gemm& gemm) const;
  };
  std::unordered_map<Gemm, size_t, Hash> known_;
  std::vector<Operation> operations_;
  double calls_ = 0;
};

// A product from column-major descriptions, as cuBLAS has them: D[m,n] = op(A) op(B), seen as its row-major
// transpose.
Gemm from_column_major(Dtype dtype, bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k,
                       int64_t lda, int64_t ldb, int64_t ldc);

// The power of two up to 16 that divides an address.
uint32_t address_alignment(uint64_t address);

}  // namespace fullwarp::shapes
