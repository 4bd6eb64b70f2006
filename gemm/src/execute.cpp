// The order of work of a staged plan; see execute.h.
#include "execute.h"

#include <algorithm>

#include "copy_order.h"

namespace fullwarp::gemm {
namespace {

// The sub-matrix of `x` that starts at (row, column) of product `product`.
Piece::Part part_of(const Matrix& x, int64_t row, int64_t column, int64_t product) {
  const int64_t elements = row + column * x.ld + (x.by_pointers ? 0 : product * x.stride);
  return {x.data + static_cast<uintptr_t>(elements * x.bytes), x.ld, x.stride};
}

// `padded_cols` columns of the stage, of which the first `cols` are copied and the others zeros.
CopyJob into_stage(const Matrix& x, const Stage& stage, uintptr_t workspace, int64_t row, int64_t column,
                   int64_t rows, int64_t cols, int64_t padded_cols, int64_t product, int64_t products) {
  CopyJob job;
  job.src_by_pointers = x.by_pointers;
  if (x.by_pointers) {
    job.src = x.data + static_cast<uintptr_t>(product) * sizeof(void*);
    job.src_offset = (row + column * x.ld) * x.bytes;
  } else {
    job.src = part_of(x, row, column, product).data;
  }
  job.dst = workspace + stage.offset;
  job.src_pitch = x.ld * x.bytes;
  job.dst_pitch = stage.ld * x.bytes;
  job.src_stride = x.stride * x.bytes;
  job.dst_stride = stage.stride * x.bytes;
  job.width = rows * x.bytes;
  job.rows = cols;
  job.zero_rows = padded_cols - cols;
  job.products = stage.stride == 0 ? 1 : products;
  job.pad = true;
  return job;
}

CopyJob out_of_stage(const CopyJob& in) {
  CopyJob job = in;
  std::swap(job.src, job.dst);
  std::swap(job.src_by_pointers, job.dst_by_pointers);
  std::swap(job.src_offset, job.dst_offset);
  std::swap(job.src_pitch, job.dst_pitch);
  std::swap(job.src_stride, job.dst_stride);
  job.zero_rows = 0;
  job.pad = false;
  job.backward = true;
  return job;
}

// cuBLAS's columns are the kernel's rows: D stored by columns of m is rows of m.
FusedJob fused_job(const Problem& p, const Plan& plan, uintptr_t workspace) {
  const auto operand = [workspace, &plan](const Matrix& x, const Stage& stage, bool along_k) {
    if (!stage.used) return FusedJob::Operand{x.data, x.ld, along_k, 0, 0};
    FusedJob::Operand staged{workspace + stage.offset, stage.ld, along_k, 0, 0};
    if (plan.copy_ahead) {
      staged.copy_from = x.data;
      staged.copy_ld = x.ld;
    }
    return staged;
  };
  FusedJob job;
  job.bf16 = p.type == Type::kBf16;
  job.x = operand(p.b, plan.b, !p.transpose_b);
  job.y = operand(p.a, plan.a, p.transpose_a);
  job.d = p.d.data;
  job.bias = p.bias;
  job.ldd = p.d.ld;
  job.m = p.n;
  job.n = p.m;
  job.k = p.k;
  job.alpha = p.alpha;
  job.relu = p.activation == 1;
  job.tile_columns = plan.tile_columns;
  job.counters = workspace - kCounterBytes;
  return job;
}

}  // namespace

int execute(const Problem& p, const Plan& plan, uintptr_t workspace, Device& device, Stream stream,
            Multiply multiply, void* caller) {
  const auto staged = [workspace](const Stage& stage) {
    return Piece::Part{workspace + stage.offset, stage.ld, stage.stride};
  };
  for (int64_t product = 0; product < p.batch; product += plan.piece_products) {
    const int64_t products = std::min(plan.piece_products, p.batch - product);
    for (int64_t column = 0; column < p.n; column += plan.piece_columns) {
      const int64_t columns = std::min(plan.piece_columns, p.n - column);
      const int64_t padded_columns = column + columns == p.n ? columns + plan.n - p.n : columns;
      const int64_t b_row = p.transpose_b ? column : 0;
      const int64_t b_column = p.transpose_b ? 0 : column;
      CopyJob jobs[kMaxCopyJobs];
      int count = 0;
      const bool first = column == 0 && product == 0;
      const bool a_is_there = column > 0 || (product > 0 && plan.a.stride == 0 && p.batch > 1);
      if (plan.a.used && !plan.copy_ahead && !a_is_there) {
        jobs[count++] = into_stage(p.a, plan.a, workspace, 0, 0, p.a.rows, p.a.cols,
                                   p.transpose_a ? plan.m : plan.k, product, products);
      }
      const bool b_is_there = product > 0 && plan.b.stride == 0 && plan.piece_columns == p.n;
      if (plan.b.used && !plan.copy_ahead && !b_is_there) {
        jobs[count++] = into_stage(p.b, plan.b, workspace, b_row, b_column, p.transpose_b ? columns : p.k,
                                   p.transpose_b ? p.k : columns, p.transpose_b ? plan.k : padded_columns,
                                   product, products);
      }
      if (plan.stage_holds_c) {
        jobs[count++] =
            into_stage(p.c, plan.d, workspace, 0, column, p.m, columns, padded_columns, product, products);
      }
      if (plan.bias.used && first) {
        Matrix bias;
        bias.data = p.bias;
        bias.bytes = p.bias_bytes;
        bias.ld = p.m;
        jobs[count++] = into_stage(bias, plan.bias, workspace, 0, 0, p.m, 1, 1, 0, 1);
      }
      if (count > 0 && !device.copy_rows(jobs, count, stream)) return kCopyFailed;

      if (plan.choice == Choice::kFused) {
        const bool done = device.fused(fused_job(p, plan, workspace), stream);
        if (!done) return kCopyFailed;
        continue;
      }
      Piece piece;
      piece.a = plan.a.used ? staged(plan.a) : part_of(p.a, 0, 0, product);
      piece.b = plan.b.used ? staged(plan.b) : part_of(p.b, b_row, b_column, product);
      piece.d = plan.stage_holds_d ? staged(plan.d) : part_of(p.d, 0, column, product);
      piece.c = plan.stage_holds_c ? staged(plan.d) : !p.reads_c ? piece.d : part_of(p.c, 0, column, product);
      piece.bias = plan.bias.used ? workspace + plan.bias.offset : p.bias;
      piece.m = plan.m;
      piece.n = padded_columns;
      piece.k = plan.k;
      piece.batch = products;
      piece.first_column = column;
      piece.first_product = product;
      piece.staged = true;
      if (const int status = multiply(caller, piece); status != 0) return status;

      if (plan.stage_holds_d) {
        const CopyJob out = out_of_stage(
            into_stage(p.d, plan.d, workspace, 0, column, p.m, columns, columns, product, products));
        if (!device.copy_rows(&out, 1, stream)) return kCopyFailed;
      }
    }
  }
  return 0;
}

}  // namespace fullwarp::gemm
