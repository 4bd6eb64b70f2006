#include "shapes/product_counter.h"

namespace fullwarp::shapes {

size_t ProductCounter::Hash::operator()(const Gemm& g) const {
  uint64_t hash = 0xcbf29ce484222325;
  for (int64_t value :
       {static_cast<int64_t>(g.dtype), static_cast<int64_t>(g.layout), g.m, g.n, g.k, g.lda, g.ldb, g.ldc,
        int64_t{g.base_bytes[0]}, int64_t{g.base_bytes[1]}, int64_t{g.base_bytes[2]}, g.batch})
    hash = (hash ^ static_cast<uint64_t>(value)) * 0x100000001b3;
  return hash ^ (hash >> 29);
}

bool ProductCounter::add(const Gemm& gemm, double count, const std::string& name) {
  calls_ += count;
  const auto [place, fresh] = known_.emplace(gemm, operations_.size());
  if (!fresh) {
    operations_[place->second].count += count;
    return true;
  }
  if (operations_.size() == kMaxProducts) return false;
  operations_.push_back({name, Step::forward, count, gemm, 0, {}});
  return true;
}

// D = op(A) op(B) in column-major order is D' = op(B)' op(A)' in row-major order; a column-major matrix that
// is not transposed is stored as its row-major transpose, so the letters carry over.
Gemm from_column_major(Dtype dtype, bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k,
                       int64_t lda, int64_t ldb, int64_t ldc) {
  const Layout layout =
      b_transposed ? (a_transposed ? Layout::tt : Layout::tn) : (a_transposed ? Layout::nt : Layout::nn);
  return {.dtype = dtype, .layout = layout, .m = n, .n = m, .k = k, .lda = ldb, .ldb = lda, .ldc = ldc};
}

uint32_t address_alignment(uint64_t address) {
  uint32_t bytes = kVectorBytes;
  while (address % bytes != 0) bytes /= 2;
  return bytes;
}

}  // namespace fullwarp::shapes
