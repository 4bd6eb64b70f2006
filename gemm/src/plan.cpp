// Choice and workspace layout; see plan.h.
#include "plan.h"

#include <algorithm>
#include <cstdio>

#include "copy_order.h"

namespace fullwarp::gemm {
namespace {

constexpr int64_t kPitchBytes = 128;    // a cache line: rows of a stage never share one
constexpr int64_t kOffsetBytes = 1024;  // between the operands of a workspace

int64_t round_up(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// Bytes of one product's part of the stage.
int64_t stage_bytes(const Stage& stage, int64_t rows, int64_t cols, int bytes) {
  return stage.used ? round_up(rows * bytes, kPitchBytes) * cols : 0;
}

// Lays `products` matrices of rows x cols at `offset`; returns the offset behind them.
size_t place(Stage& stage, int64_t rows, int64_t cols, int bytes, int64_t products, size_t offset) {
  if (!stage.used) return offset;
  stage.ld = round_up(rows * bytes, kPitchBytes) / bytes;
  stage.stride = stage.ld * cols;
  stage.offset = offset;
  return offset + static_cast<size_t>(round_up(stage.stride * bytes * products, kOffsetBytes));
}

// Bytes of the stages of B and D for `columns` columns of D.
int64_t column_bytes(const Problem& p, const Plan& plan, int64_t columns) {
  const int64_t b_rows = p.transpose_b ? columns : plan.k, b_cols = p.transpose_b ? plan.k : columns;
  return stage_bytes(plan.b, b_rows, b_cols, p.b.bytes) + stage_bytes(plan.d, plan.m, columns, p.d.bytes);
}

// False where A alone does not fit.
bool lay_out(const Problem& p, Plan& plan, size_t workspace_bytes) {
  const bool share_a = p.batch > 1 && !p.a.by_pointers && p.a.stride == 0;
  const bool share_b = p.batch > 1 && !p.b.by_pointers && p.b.stride == 0;
  const int64_t a_rows = p.transpose_a ? plan.k : plan.m, a_cols = p.transpose_a ? plan.m : plan.k;
  const int64_t a_bytes = stage_bytes(plan.a, a_rows, a_cols, p.a.bytes);
  const int64_t bd_bytes = column_bytes(p, plan, plan.n);
  const int64_t d_bytes = stage_bytes(plan.d, plan.m, plan.n, p.d.bytes);
  const int64_t shared = (share_a ? a_bytes : 0) + (share_b ? bd_bytes - d_bytes : 0);
  const int64_t each = std::max<int64_t>(1, a_bytes + bd_bytes - shared);
  const int64_t limit = static_cast<int64_t>(workspace_bytes) - 4 * kOffsetBytes -
                        (plan.bias.used ? round_up(plan.m * p.bias_bytes, kOffsetBytes) : 0);
  int64_t columns = plan.n;
  plan.piece_columns = p.n;
  plan.piece_products = std::clamp<int64_t>((limit - shared) / each, 0, p.batch);
  if (plan.piece_products == 0) {
    plan.piece_products = 1;
    constexpr int64_t kColumns = 256;  // tiles of cuBLAS divide it
    for (columns = round_up(p.n, kColumns) - kColumns; columns > 0; columns -= kColumns) {
      if (a_bytes + column_bytes(p, plan, columns) <= limit) break;
    }
    if (columns <= 0) return false;
    plan.piece_columns = columns;
  }
  const int64_t products = plan.piece_products;
  const int64_t b_rows = p.transpose_b ? columns : plan.k, b_cols = p.transpose_b ? plan.k : columns;
  size_t end = place(plan.bias, plan.m, 1, p.bias_bytes, 1, 0);
  end = place(plan.a, a_rows, a_cols, p.a.bytes, share_a ? 1 : products, end);
  end = place(plan.b, b_rows, b_cols, p.b.bytes, share_b ? 1 : products, end);
  end = place(plan.d, plan.m, columns, p.d.bytes, products, end);
  if (share_a) plan.a.stride = 0;
  if (share_b) plan.b.stride = 0;
  plan.bytes = end;
  return true;
}

}  // namespace

Plan make_plan(const Problem& p, const Costs& costs, size_t workspace_bytes, Mode mode, bool can_fuse) {
  Plan plan;
  plan.m = p.m;
  plan.n = plan.piece_columns = p.n;
  plan.k = p.k;
  plan.piece_products = p.batch;
  const auto plain = [&plan](const char* why) {
    plan.choice = Choice::kPlain;
    plan.why = why;
    return plan;
  };
  if (p.m <= 0 || p.n <= 0 || p.k <= 0 || p.batch <= 0) return plain("nothing to multiply");
  plan.plain_us = plan.aligned_us = costs.aligned_us(p);
  const int a = alignment_of(p.a, p.batch);
  const int b = alignment_of(p.b, p.batch);
  const int d = alignment_of(p.d, p.batch);
  const int c = p.reads_c ? alignment_of(p.c, p.batch) : kAlignmentBytes;
  const int64_t unit = std::max(extent_unit(p.a), extent_unit(p.d));
  const bool pad_m = p.m % unit != 0;  // D is contiguous along m
  const bool pad_k = p.k % unit != 0 && (p.transpose_a || !p.transpose_b);
  const bool pad_n = p.n % unit != 0 && p.transpose_b;
  if (std::min({a, b, c, d}) >= kAlignmentBytes && !pad_m && !pad_k && !pad_n) return plain("aligned");
  if (p.type == Type::kF32) return plain("fp32 on CUDA cores has no cliff");
  const bool by_pointers = p.a.by_pointers || p.b.by_pointers || p.d.by_pointers;
  // A strided call on the stages stands for one by pointers, so there all operands are staged or none.
  plan.a.used = by_pointers || a < kAlignmentBytes || pad_m || pad_k;
  plan.b.used = by_pointers || b < kAlignmentBytes || pad_k || pad_n;
  plan.stage_holds_d = by_pointers || d < kAlignmentBytes || pad_m || pad_n;
  plan.stage_holds_c = p.reads_c && (plan.stage_holds_d || c < kAlignmentBytes);
  plan.d.used = plan.stage_holds_d || plan.stage_holds_c;
  plan.bias.used = p.bias != 0 && pad_m;
  if (pad_m) plan.m = round_up(p.m, unit);
  if (pad_n) plan.n = round_up(p.n, unit);
  if (pad_k) plan.k = round_up(p.k, unit);
  plan.plain_us = costs.plain_us(p);
  plan.staged_us = costs.staged_us(p, plan.a.used, plan.b.used, plan.stage_holds_c, plan.stage_holds_d);
  if (mode == Mode::kPlain) return plain("FULLWARP_GEMM_MODE=plain");

  Plan fused = plan;
  const bool fusible = can_fuse && !by_pointers && p.batch == 1 && p.scalars_known && !p.reads_c &&
                       p.activation != 2 && p.sums_in_fp32 &&
                       (p.type == Type::kBf16 || p.type == Type::kF16) && p.d.bytes == 2 &&
                       (p.bias == 0 || p.bias_bytes == 2);
  if (fusible) {
    fused.a.used = a < kAlignmentBytes;
    fused.b.used = b < kAlignmentBytes;
    fused.d.used = fused.bias.used = fused.stage_holds_c = fused.stage_holds_d = false;
    fused.m = p.m;
    fused.n = p.n;
    fused.k = p.k;
    // D's rows are p's columns.
    const bool may_copy_ahead = can_copy_ahead(p.n, p.m, p.k, fused.b.used, fused.a.used);
    const Costs::Fused way = costs.fused(p, fused.a.used, fused.b.used, may_copy_ahead, mode == Mode::kAhead);
    fused.choice = Choice::kFused;
    fused.tile_columns = way.columns;
    fused.copy_ahead = way.ahead;
    plan.fused_us = fused.fused_us = way.us;
    fused.why = way.ahead ? "operands are copied while the product runs, D not at all"
                          : "no copy of D, and extents may be odd";
  }
  const bool fits = lay_out(p, plan, workspace_bytes);
  // The fused product is done whole.
  const bool fused_fits = fusible && lay_out(p, fused, workspace_bytes) && fused.piece_columns == p.n &&
                          fused.piece_products == 1;
  if ((mode == Mode::kFused || mode == Mode::kAhead) && fused_fits) return fused;
  const bool faster = fused_fits && (fused.fused_us < plan.staged_us || !fits);
  const double best = faster ? plan.fused_us : plan.staged_us;
  if (mode == Mode::kAuto && best > plan.plain_us * costs.least_gain) {
    return plain("copies would cost more than they gain");
  }
  if (mode != Mode::kStaged && faster) return fused;
  if (!fits) return plain("does not fit into the workspace");
  plan.choice = Choice::kStaged;
  plan.why = "a pitch, base or contiguous extent is not a multiple of 16 bytes";
  return plan;
}

std::string describe(const Problem& p, const Plan& plan) {
  char text[512];
  const auto star = [](bool staged) { return staged ? "*" : ""; };
  const int64_t pieces = plan.choice == Choice::kPlain
                             ? 1
                             : (p.n + plan.piece_columns - 1) / plan.piece_columns *
                                   ((p.batch + plan.piece_products - 1) / plan.piece_products);
  std::snprintf(
      text, sizeof(text),
      "%s %c%c m=%lld n=%lld k=%lld batch=%lld lda=%lld%s ldb=%lld%s ldd=%lld%s: %s (%s); predicted "
      "plain %.0f us, staged %.0f us, fused %.0f us, aligned %.0f us; workspace %.1f MB, %lld piece%s",
      name(p.type), p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', static_cast<long long>(p.m),
      static_cast<long long>(p.n), static_cast<long long>(p.k), static_cast<long long>(p.batch),
      static_cast<long long>(p.a.ld), star(plan.a.used), static_cast<long long>(p.b.ld), star(plan.b.used),
      static_cast<long long>(p.d.ld), star(plan.d.used), name(plan.choice), plan.why, plan.plain_us,
      plan.staged_us, plan.fused_us, plan.aligned_us, static_cast<double>(plan.bytes) / 1e6,
      static_cast<long long>(pieces), pieces == 1 ? "" : "s");
  return text;
}

}  // namespace fullwarp::gemm
