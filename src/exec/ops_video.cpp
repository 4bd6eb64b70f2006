// The video instructions: modifiers and selectors to the structs of semantics/video.h, then lane by lane
// (rare, and emulated by ptxas on today's hardware too).
#include "exec/semantics/video.h"

#include <optional>

#include "exec/lane_function.h"

namespace fullwarp::exec {

using ptx::Mod;
using ptx::Op;
using ptx::Operand;
using ptx::Type;
using sem::Cmp;
using sem::Part;
using sem::SecondOp;
using sem::VideoOp;

namespace {

struct Form {
  VideoOp op;
  unsigned lanes;  // 1: scalar
};

std::optional<Form> form_of(Op op) {
  switch (op) {
    case Op::vadd: return Form{VideoOp::add, 1};
    case Op::vsub: return Form{VideoOp::sub, 1};
    case Op::vabsdiff: return Form{VideoOp::absdiff, 1};
    case Op::vmin: return Form{VideoOp::min, 1};
    case Op::vmax: return Form{VideoOp::max, 1};
    case Op::vshl: return Form{VideoOp::shl, 1};
    case Op::vshr: return Form{VideoOp::shr, 1};
    case Op::vset: return Form{VideoOp::set, 1};
    case Op::vadd2: return Form{VideoOp::add, 2};
    case Op::vsub2: return Form{VideoOp::sub, 2};
    case Op::vavrg2: return Form{VideoOp::avrg, 2};
    case Op::vabsdiff2: return Form{VideoOp::absdiff, 2};
    case Op::vmin2: return Form{VideoOp::min, 2};
    case Op::vmax2: return Form{VideoOp::max, 2};
    case Op::vset2: return Form{VideoOp::set, 2};
    case Op::vadd4: return Form{VideoOp::add, 4};
    case Op::vsub4: return Form{VideoOp::sub, 4};
    case Op::vavrg4: return Form{VideoOp::avrg, 4};
    case Op::vabsdiff4: return Form{VideoOp::absdiff, 4};
    case Op::vmin4: return Form{VideoOp::min, 4};
    case Op::vmax4: return Form{VideoOp::max, 4};
    case Op::vset4: return Form{VideoOp::set, 4};
    default: return std::nullopt;
  }
}

Cmp comparison(const ptx::Instruction& i) {
  if (i.has(Mod::ne)) return Cmp::ne;
  if (i.has(Mod::lt)) return Cmp::lt;
  if (i.has(Mod::le)) return Cmp::le;
  if (i.has(Mod::gt)) return Cmp::gt;
  if (i.has(Mod::ge)) return Cmp::ge;
  return Cmp::eq;
}

// The parser numbers selectors .b0 ... .b3, .h0, .h1 from 1, as Part does.
Part part(const Operand& o) { return o.component <= 6 ? static_cast<Part>(o.component) : Part::word; }

void emit(Decoder& d, LaneFunction f) {
  const uint32_t a = d.source(1, Type::b32), b = d.source(2, Type::b32);
  const uint32_t c = d.operand_count() > 3 ? d.source(3, Type::b32) : d.constant32(0);
  emit_lane_function(d, std::move(f), d.destination(0, Type::b32), 4, {{a}, {b}, {c}});
}

bool decode_scalar(Decoder& d, VideoOp op) {
  const ptx::Instruction& i = d.instruction();
  const bool set = op == VideoOp::set;
  sem::Video v;
  v.op = op;
  v.cmp = comparison(i);
  v.d_signed = !set && i.type(0) == Type::s32;
  v.a_signed = i.type(set ? 0 : 1) == Type::s32;
  v.b_signed = i.type(set ? 1 : 2) == Type::s32;
  v.sat = i.has(Mod::sat);
  v.wrap = i.has(Mod::wrap);
  v.d = part(d.operand(0));
  v.a = part(d.operand(1));
  v.b = part(d.operand(2));
  v.second = i.has(Mod::add_)   ? SecondOp::add
             : i.has(Mod::min_) ? SecondOp::min
             : i.has(Mod::max_) ? SecondOp::max
                                : SecondOp::none;
  emit(d, [v](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
    return sem::video(v, static_cast<uint32_t>(a), static_cast<uint32_t>(b), static_cast<uint32_t>(c));
  });
  return true;
}

bool decode_packed(Decoder& d, Form form) {
  const ptx::Instruction& i = d.instruction();
  const bool set = form.op == VideoOp::set;
  sem::VideoSimd v;
  v.op = form.op;
  v.cmp = comparison(i);
  v.d_signed = !set && i.type(0) == Type::s32;
  v.a_signed = i.type(set ? 0 : 1) == Type::s32;
  v.b_signed = i.type(set ? 1 : 2) == Type::s32;
  v.sat = i.has(Mod::sat);
  v.accumulate = i.has(Mod::add_);
  v.lanes = static_cast<uint8_t>(form.lanes);
  v.mask = form.lanes == 2 ? 0x3 : 0xf;
  if (form.lanes == 2) {
    v.a = {0, 1, 0, 0};
    v.b = {2, 3, 0, 0};
  }
  // One selected result; the parser knows no longer selectors.
  const Part only = part(d.operand(0));
  if (only != Part::word) {
    const unsigned first = static_cast<unsigned>(form.lanes == 2 ? Part::h0 : Part::b0);
    const unsigned index = static_cast<unsigned>(only) - first;
    if (static_cast<unsigned>(only) < first || index >= form.lanes)
      return d.fail("selects no part of its result");
    v.mask = static_cast<uint8_t>(1u << index);
  }
  if (d.operand(1).component || d.operand(2).component)
    return d.fail("selectors of packed operands are not supported");
  emit(d, [v](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
    return sem::video_simd(v, static_cast<uint32_t>(a), static_cast<uint32_t>(b), static_cast<uint32_t>(c));
  });
  return true;
}

bool decode_multiply(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  sem::VideoMad v;
  v.a_signed = i.type(1) == Type::s32;
  v.b_signed = i.type(2) == Type::s32;
  v.a = part(d.operand(1));
  v.b = part(d.operand(2));
  v.negate_product = d.operand(1).negated != d.operand(2).negated;
  v.negate_c = d.operand(3).negated;
  v.sat = i.has(Mod::sat);
  v.scale = i.has(Mod::shr7) ? 7 : i.has(Mod::shr15) ? 15 : 0;
  emit(d, [v](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
    return sem::video_mad(v, static_cast<uint32_t>(a), static_cast<uint32_t>(b), static_cast<uint32_t>(c));
  });
  return true;
}

}  // namespace

bool decode_video(Decoder& d) {
  if (d.instruction().op == Op::vmad) return decode_multiply(d);
  const std::optional<Form> form = form_of(d.instruction().op);
  if (!form) return false;
  return form->lanes == 1 ? decode_scalar(d, form->op) : decode_packed(d, *form);
}

}  // namespace fullwarp::exec
