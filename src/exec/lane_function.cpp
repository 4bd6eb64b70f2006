#include "exec/lane_function.h"

#include <bit>
#include <utility>

#include "exec/warp.h"

namespace fullwarp::exec {
namespace {

constexpr uint32_t kWideOperand = 1, kWideResult = 8, kHalfResult = 16;  // kWideOperand << k for operand k

const MicroOp* call_lanes(Warp& w, const MicroOp* op) {
  const LaneFunction& f = *static_cast<const LaneFunction*>(op->info);
  const uint32_t rows[3] = {op->a, op->b, op->c};
  for (LaneMask left = w.exec; left; left &= left - 1) {
    const unsigned i = static_cast<unsigned>(std::countr_zero(left));
    uint64_t x[3];
    for (unsigned k = 0; k < 3; ++k)
      x[k] = op->flags & (kWideOperand << k) ? w.row<uint64_t>(rows[k])[i] : w.row<uint32_t>(rows[k])[i];
    const uint64_t result = f(x[0], x[1], x[2]);
    if (op->flags & kWideResult)
      w.row<uint64_t>(op->dst)[i] = result;
    else
      w.row<uint32_t>(op->dst)[i] = static_cast<uint32_t>(op->flags & kHalfResult ? result & 0xffff : result);
  }
  return op + 1;
}

}  // namespace

void emit_lane_function(Decoder& d, LaneFunction f, uint32_t dst, unsigned bytes,
                        std::initializer_list<LaneOperand> operands) {
  auto kept = std::make_shared<LaneFunction>(std::move(f));
  const uint32_t none = d.constant32(0);
  uint32_t rows[3] = {none, none, none}, flags = bytes == 8 ? kWideResult : bytes == 2 ? kHalfResult : 0;
  unsigned k = 0;
  for (const LaneOperand& operand : operands) {
    rows[k] = operand.row;
    if (operand.wide) flags |= kWideOperand << k;
    ++k;
  }
  MicroOp& op = d.emit({call_lanes, nullptr}, dst, rows[0], rows[1], rows[2]);
  op.info = kept.get();
  op.flags = flags;
  d.out.infos.push_back(std::move(kept));
}

}  // namespace fullwarp::exec
