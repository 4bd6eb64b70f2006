// Matrix instructions: which shapes and types there are, which registers they name, and of which accesses
// wmma.load, wmma.store, ldmatrix and stmatrix are made.
//
// For wmma the accesses are those of ptxas 13.0 for sm_90, found by compiling every shape, type, layout and
// space:
//
//   A and B, K contiguous (A .row, B .col)   32 bits for each register; from .shared ldmatrix instead, up to
//                                            four registers each, two if elements are narrower than 16 bits
//   A and B, 16 bits, the other way round    the same 32 bits along the other side of an 8x8 matrix,
//                                            then MOVM; from .shared ldmatrix.trans
//   A and B, 8 bits, the other way round     a byte for each element
//   A and B, tf32 and f64                    an access for each element
//   C and D, f16                             32 bits for each register, with MOVM if .col
//   C and D, others                          .row: one access for two neighbours; .col: one for each element
//
// m8n32k16 is m32n8k16 with everything transposed: A and B trade places, .row is .col.
#include <optional>
#include <string>
#include <utility>

#include "exec/access.h"
#include "exec/handlers.h"
#include "exec/matrix_ops.h"
#include "exec/memory_ops.h"

namespace fullwarp::exec {

using ptx::Mod;
using ptx::Op;
using ptx::Operand;
using ptx::Type;
using sem::MatrixType;
using sem::Role;
using sem::Shape;

std::optional<MatrixType> matrix_type(Type type) {
  switch (type) {
    case Type::f16: return MatrixType::f16;
    case Type::bf16: return MatrixType::bf16;
    case Type::tf32: return MatrixType::tf32;
    case Type::f32: return MatrixType::f32;
    case Type::f64: return MatrixType::f64;
    case Type::s32: return MatrixType::s32;
    case Type::s8: return MatrixType::s8;
    case Type::u8: return MatrixType::u8;
    case Type::s4: return MatrixType::s4;
    case Type::u4: return MatrixType::u4;
    case Type::b1: return MatrixType::b1;
    case Type::e4m3: return MatrixType::e4m3;
    case Type::e5m2: return MatrixType::e5m2;
    default: return std::nullopt;
  }
}

namespace {

// The types that products of these are summed in.
bool sums_in(MatrixType multiplicand, MatrixType sum) {
  switch (multiplicand) {
    case MatrixType::f16:
    case MatrixType::e4m3:
    case MatrixType::e5m2: return sum == MatrixType::f16 || sum == MatrixType::f32;
    case MatrixType::bf16:
    case MatrixType::tf32: return sum == MatrixType::f32;
    case MatrixType::f64: return sum == MatrixType::f64;
    default: return sum == MatrixType::s32;
  }
}

bool same_kind(MatrixType a, MatrixType b) {
  if (a == b) return true;
  const auto is = [&](MatrixType x, MatrixType y) { return (a == x && b == y) || (a == y && b == x); };
  return is(MatrixType::s8, MatrixType::u8) || is(MatrixType::s4, MatrixType::u4) ||
         is(MatrixType::e4m3, MatrixType::e5m2);
}

}  // namespace

bool has_products(MatrixType a, MatrixType b, MatrixType sum) { return same_kind(a, b) && sums_in(a, sum); }

namespace {

std::optional<Shape> shape_of(const ptx::Instruction& i) {
  static constexpr std::pair<Mod, Shape> kShapes[] = {
      {Mod::m16n16k16, {16, 16, 16}}, {Mod::m8n32k16, {8, 32, 16}},   {Mod::m32n8k16, {32, 8, 16}},
      {Mod::m16n16k8, {16, 16, 8}},   {Mod::m8n8k4, {8, 8, 4}},       {Mod::m8n8k16, {8, 8, 16}},
      {Mod::m8n8k32, {8, 8, 32}},     {Mod::m8n8k128, {8, 8, 128}},   {Mod::m16n8k4, {16, 8, 4}},
      {Mod::m16n8k8, {16, 8, 8}},     {Mod::m16n8k16, {16, 8, 16}},   {Mod::m16n8k32, {16, 8, 32}},
      {Mod::m16n8k64, {16, 8, 64}},   {Mod::m16n8k128, {16, 8, 128}}, {Mod::m16n8k256, {16, 8, 256}},
  };
  for (const auto& [mod, shape] : kShapes)
    if (i.has(mod)) return shape;
  return std::nullopt;
}

// The layouts of an instruction, in order: true for .row.
std::vector<bool> layouts_of(const ptx::Instruction& i) {
  std::vector<bool> rows;
  for (unsigned k = 0; k < i.mod_count; ++k)
    if (i.mods[k] == Mod::row || i.mods[k] == Mod::col) rows.push_back(i.mods[k] == Mod::row);
  return rows;
}

// The rows of a list of registers, or of a single one.
bool decode_registers(Decoder& d, const Operand& operand, unsigned count, Type type, bool written,
                      MatrixRows& rows) {
  const bool vector = operand.kind == Operand::Kind::vector;
  const unsigned have = vector ? operand.count : 1;
  if (have != count) {
    d.fail("takes " + std::to_string(count) + " registers where it has " + std::to_string(have));
    return false;
  }
  rows.count = count;
  for (unsigned r = 0; r < count; ++r) {
    const Operand& register_operand = vector ? d.element(operand, r) : operand;
    rows.row[r] = written ? d.destination(register_operand, type) : d.source(register_operand, type);
  }
  return !d.error();
}

template <class Info>
MicroOp& emit_collective(Decoder& d, MatrixKind kind, std::shared_ptr<Info> info) {
  emit_rendezvous(d, d.constant32(kFullMask));
  MicroOp& op = d.emit(matrix_handlers(kind));
  op.info = info.get();
  d.out.infos.push_back(std::move(info));
  return op;
}

std::string kind_of(const char* what, MatrixType a, MatrixType b, MatrixType sum) {
  const auto name = [](MatrixType t) {
    static constexpr const char* kNames[] = {"f16", "bf16", "tf32", "f32", "f64",  "s32", "s8",
                                             "u8",  "s4",   "u4",   "b1",  "e4m3", "e5m2"};
    return std::string(kNames[static_cast<unsigned>(t)]);
  };
  return std::string(what) + " of ." + name(a) + " and ." + name(b) + " into ." + name(sum);
}

bool decode_products(Decoder& d, bool wmma) {
  const ptx::Instruction& i = d.instruction();
  if (i.has(Mod::sp) || i.has(Mod::sp_ordered_metadata))
    return d.fail("products of sparse matrices are not supported");
  const std::optional<Shape> named = shape_of(i);
  std::optional<MatrixType> result = matrix_type(i.type(0)), a, b, c;
  if (i.type_count == 2) {  // wmma of f16: the results and C
    a = b = MatrixType::f16;
    c = matrix_type(i.type(1));
  } else {
    a = matrix_type(i.type(1));
    b = matrix_type(i.type(2));
    c = matrix_type(i.type(3));
  }
  const std::vector<bool> layouts = layouts_of(i);
  if (!named || !result || !a || !b || !c || i.type_count > 4 || layouts.size() != 2 || i.operand_count != 4)
    return d.fail("is a form that is not supported");
  Shape shape = *named;
  const bool volta = !wmma && *a == MatrixType::f16 && shape == Shape{8, 8, 4};
  const bool known = volta || (wmma ? sem::wmma_has(shape, *a) : sem::mma_has(shape, *a));
  if (!known || !has_products(*a, *b, *c) || !sums_in(*a, *result))
    return d.fail("there are no " + kind_of("products", *a, *b, *result) + " in this shape");
  const bool integer = *c == MatrixType::s32;
  if (i.has(Mod::satfinite) && !integer)
    return d.fail(".satfinite for floating-point results is not supported");
  const bool fixed = !volta && (!wmma || sem::element_bits(*a) < 8);
  if (fixed && !(layouts[0] && !layouts[1])) return d.fail("the layouts must be .row and .col");

  auto info = std::make_shared<MmaInfo>(
      MmaInfo{wmma ? sem::make_wmma(shape, *a, *b, *c, *result)
                   : sem::make_mma(volta ? Shape{16, 8, 8} : shape, *a, *b, *c, *result),
              {},
              {},
              {},
              {},
              {}});
  // The registers as the instruction has them; f16 accumulators of m8n8k4 are 4, f32 8.
  unsigned counts[4] = {info->mma.d.fragment.registers, info->mma.a.fragment.registers,
                        info->mma.b.fragment.registers, info->mma.c.fragment.registers};
  if (volta) {
    info->volta = {layouts[0], layouts[1], *c == MatrixType::f32, *result == MatrixType::f32};
    counts[0] = info->volta.d_f32 ? 8 : 4;
    counts[1] = counts[2] = 2;
    counts[3] = info->volta.c_f32 ? 8 : 4;
  }
  info->mma.satfinite = i.has(Mod::satfinite);
  info->mma.bit_op = i.has(Mod::and_) ? sem::BitOp::and_ : sem::BitOp::xor_;
  info->mma.rounding = i.has(Mod::rz)   ? sem::Rounding::rz
                       : i.has(Mod::rm) ? sem::Rounding::rm
                       : i.has(Mod::rp) ? sem::Rounding::rp
                                        : sem::Rounding::rn;
  const bool wide = *c == MatrixType::f64;
  const Type type = wide ? Type::b64 : Type::b32;
  if (!decode_registers(d, d.operand(1), counts[1], type, false, info->a) ||
      !decode_registers(d, d.operand(2), counts[2], type, false, info->b) ||
      !decode_registers(d, d.operand(3), counts[3], type, false, info->c) ||
      !decode_registers(d, d.operand(0), counts[0], type, true, info->d))
    return true;
  if (wmma && shape.m == 8 && shape.n == 32) {  // transposed, as the loads and stores are
    info->mma = [&] {
      sem::Mma transposed = sem::make_wmma({32, 8, 16}, *b, *a, *c, *result);
      transposed.satfinite = info->mma.satfinite;
      return transposed;
    }();
    std::swap(info->a, info->b);
  }
  emit_collective(d, volta ? MatrixKind::mma_volta : wide ? MatrixKind::mma_f64 : MatrixKind::mma, info);
  return true;
}

// ---- accesses ----

struct AccessShape {
  unsigned bytes = 4, vector = 1;
  mem::AccessKind kind = mem::AccessKind::load;
};

MemoryPath path_of(ptx::Space space, const AccessShape& shape) {
  const bool word = shape.bytes == 4 && shape.vector == 1;
  switch (space) {
    case ptx::Space::global: return word ? MemoryPath::global_word : MemoryPath::global;
    case ptx::Space::shared: return word ? MemoryPath::shared_word : MemoryPath::shared;
    default: return MemoryPath::generic;
  }
}

// Finishes the table: address, site, and the ops of the steps, of which `rows` gives the registers.
bool emit_access(Decoder& d, std::shared_ptr<MatrixAccessInfo> info, const Operand& address, ptx::Space space,
                 const AccessShape& shape) {
  const MemoryAddress at = decode_address(d, address, space);
  if (d.error()) return true;
  info->narrow = space == ptx::Space::shared;
  info->base_row = at.row;
  info->address_row = d.temporary(info->narrow ? kRow32 : kRow64);
  const uint32_t site = new_memory_site(d, space, shape.kind, shape.bytes * shape.vector);
  const MemoryPath path = path_of(space, shape);
  const bool checked_words = path == MemoryPath::shared_word && d.program.check_races;
  const Handlers handlers = memory_handlers(path, shape.bytes, checked_words, false, info->store);
  if (info->form == MatrixAccessInfo::Form::matrices)
    for (uint32_t& row : info->value_row) row = d.temporary(kRow32);
  else if (info->form != MatrixAccessInfo::Form::direct)
    info->value_row[0] = d.temporary(kRow32);
  const auto number = static_cast<uint32_t>(&d.instruction() - d.function.instructions.data());
  for (MatrixAccessInfo::Step& step : info->steps) {
    MicroOp& op = step.access;
    op.run[0] = handlers.full;
    op.run[1] = handlers.masked;
    op.a = info->address_row;
    op.imm = at.imm;
    op.site = site;
    op.instruction = number;
    op.flags = shape.vector << kVectorShift;
    if (info->form == MatrixAccessInfo::Form::direct) {
      op.dst = info->registers.row[step.first_register];
      if (shape.vector == 2) op.b = info->registers.row[step.first_register + 1];
    } else {
      op.dst = info->value_row[0];
      op.b = info->value_row[1];
      op.c = info->value_row[2];
      op.d = info->value_row[3];
    }
  }
  emit_collective(d, MatrixKind::access, std::move(info));
  return true;
}

// Groups of registers that one ldmatrix or stmatrix moves: lane 8 j + r has the address of row r of matrix j.
MatrixAccessInfo::Step matrices_step(unsigned first, unsigned count) {
  MatrixAccessInfo::Step step;
  step.first_register = first;
  step.registers = count;
  step.lanes = kFullMask >> (kWarpSize - 8 * count);
  return step;
}

bool decode_matrices(Decoder& d, bool store) {
  const ptx::Instruction& i = d.instruction();
  if (!i.has(Mod::m8n8) || i.type(0) != Type::b16)
    return d.fail("only matrices of 8x8 elements of 16 bits are supported");
  const unsigned count = i.has(Mod::x4) ? 4 : i.has(Mod::x2) ? 2 : 1;
  if (i.operand_count != 2) return d.fail("has too few operands");
  auto info = std::make_shared<MatrixAccessInfo>();
  info->form = MatrixAccessInfo::Form::matrices;
  info->store = store;
  info->trans = i.has(Mod::trans);
  info->distinct = count;
  if (!decode_registers(d, d.operand(store ? 1 : 0), count, Type::b32, !store, info->registers)) return true;
  info->steps.push_back(matrices_step(0, count));
  // Without a state space the address is generic and must lie in shared memory.
  const ptx::Space space = space_of(i);
  if (space != ptx::Space::shared && space != ptx::Space::generic)
    return d.fail("accesses shared memory only");
  return emit_access(d, std::move(info), d.operand(store ? 0 : 1), space,
                     {4, 4, store ? mem::AccessKind::matrix_store : mem::AccessKind::matrix_load});
}

bool decode_movmatrix(Decoder& d) {
  auto info = std::make_shared<MovmatrixInfo>();
  info->from = d.source(1, Type::b32);
  info->to = d.destination(0, Type::b32);
  if (d.error()) return true;
  emit_collective(d, MatrixKind::movmatrix, std::move(info));
  return true;
}

// Works out the steps of a wmma access of the fragment; `row_major` is the layout in memory.
class WmmaSteps {
 public:
  WmmaSteps(const sem::Fragment& fragment, bool row_major, bool shared, MatrixAccessInfo& info,
            AccessShape& shape)
      : fragment_(fragment), row_major_(row_major), bits_(sem::element_bits(fragment.type)), info_(info) {
    const bool contiguous = fragment.role == Role::b ? !row_major : row_major;  // registers hold neighbours
    const unsigned count = fragment.distinct_registers();
    using Form = MatrixAccessInfo::Form;
    if (bits_ >= 32) {
      shape.bytes = bits_ / 8;
      shape.vector = fragment.role == Role::c && contiguous ? 2 : 1;
      for (unsigned r = 0; r < count; r += shape.vector) add_elements(r, 0);
    } else if (shared && fragment.role != Role::c && (contiguous || bits_ == 16)) {
      info.form = Form::matrices;
      info.trans = !contiguous;
      shape.vector = 4;
      shape.kind = mem::AccessKind::matrix_load;
      const unsigned together = std::min(count, bits_ == 16 ? 4u : 2u);
      for (unsigned r = 0; r < count; r += together) add_matrices(r, together);
    } else if (contiguous) {
      for (unsigned r = 0; r < count; ++r) add_elements(r, 0);
    } else if (bits_ == 16) {
      info.form = Form::transposed;
      for (unsigned r = 0; r < count; ++r) add_transposed(r);
    } else {
      info.form = Form::bytes;
      shape.bytes = 1;
      for (unsigned r = 0; r < count; ++r)
        for (unsigned k = 0; k < 4; ++k) add_elements(r, k);
    }
  }

 private:
  unsigned line(sem::Position p) const { return row_major_ ? p.row : p.column; }
  unsigned place(sem::Position p) const { return row_major_ ? p.column : p.row; }
  void put(MatrixAccessInfo::Step& step, unsigned lane, unsigned line, unsigned place) {
    step.line[lane] = static_cast<uint16_t>(line);
    step.offset_bytes[lane] = static_cast<uint16_t>(place * bits_ / 8);
  }

  void add_elements(unsigned reg, unsigned index) {
    MatrixAccessInfo::Step step;
    step.first_register = reg;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      const sem::Position p = fragment_.position(lane, reg, index);
      put(step, lane, line(p), place(p));
    }
    info_.steps.push_back(step);
  }

  // Lane l reads elements 2 (l % 4) and the next of line l / 4 of the register's 8x8 matrix as it lies in
  // memory.
  void add_transposed(unsigned reg) {
    MatrixAccessInfo::Step step;
    step.first_register = reg;
    const sem::Position origin = fragment_.position(0, reg, 0);
    for (unsigned lane = 0; lane < kWarpSize; ++lane)
      put(step, lane, line(origin) + lane / 4, place(origin) + lane % 4 * 2);
    info_.steps.push_back(step);
  }

  void add_matrices(unsigned first, unsigned count) {
    MatrixAccessInfo::Step step = matrices_step(first, count);
    for (unsigned j = 0; j < count; ++j) {
      const sem::Position origin = fragment_.position(0, first + j, 0);
      for (unsigned r = 0; r < 8; ++r) put(step, sem::address_lane(j, r), line(origin) + r, place(origin));
    }
    info_.steps.push_back(step);
  }

  const sem::Fragment& fragment_;
  bool row_major_;
  unsigned bits_;
  MatrixAccessInfo& info_;
};

bool wmma_has_operand(Role role, Shape shape, MatrixType type) {
  if (role != Role::c) return sem::wmma_has(shape, type);
  switch (type) {
    case MatrixType::f16: return sem::wmma_has(shape, MatrixType::f16);
    case MatrixType::f32:
      return sem::wmma_has(shape, MatrixType::f16) || sem::wmma_has(shape, MatrixType::tf32);
    case MatrixType::f64: return sem::wmma_has(shape, MatrixType::f64);
    case MatrixType::s32:
      return sem::wmma_has(shape, MatrixType::s8) || sem::wmma_has(shape, MatrixType::s4) ||
             sem::wmma_has(shape, MatrixType::b1);
    default: return false;
  }
}

bool decode_wmma_access(Decoder& d, bool store) {
  const ptx::Instruction& i = d.instruction();
  Role role = store || i.has(Mod::c) ? Role::c : i.has(Mod::a) ? Role::a : Role::b;
  const std::optional<MatrixType> type = matrix_type(i.type(0));
  const std::optional<Shape> named = shape_of(i);
  const std::vector<bool> layouts = layouts_of(i);
  if (!type || !named || layouts.size() != 1 || i.operand_count < 2 || !wmma_has_operand(role, *named, *type))
    return d.fail("there is no such matrix of this shape and type");
  const ptx::Space space = space_of(i);
  if (space != ptx::Space::global && space != ptx::Space::shared && space != ptx::Space::generic)
    return d.fail("accesses global and shared memory only");
  bool row_major = layouts[0];
  if (sem::element_bits(*type) < 8 && row_major != (role == Role::a))
    return d.fail("matrices of this type are .row as A and .col as B");
  Shape shape = *named;
  if (shape.m == 8 && shape.n == 32) {
    shape = {32, 8, 16};
    row_major = !row_major;
    if (role != Role::c) role = role == Role::a ? Role::b : Role::a;
  }
  const sem::Fragment fragment = sem::wmma_fragment(role, *type, shape);
  auto info = std::make_shared<MatrixAccessInfo>();
  info->store = store;
  info->strided = true;
  info->element_bits = sem::element_bits(*type);
  info->distinct = fragment.distinct_registers();
  const Type register_type = *type == MatrixType::f64 ? Type::b64 : Type::b32;
  if (!decode_registers(d, d.operand(store ? 1 : 0), fragment.registers, register_type, !store,
                        info->registers))
    return true;
  info->stride_row = i.operand_count > 2 ? d.source(2, Type::b32)
                                         : d.constant32(row_major ? fragment.columns : fragment.rows);
  if (d.error()) return true;
  AccessShape access{4, 1, store ? mem::AccessKind::store : mem::AccessKind::load};
  WmmaSteps(fragment, row_major, space == ptx::Space::shared, *info, access);
  return emit_access(d, std::move(info), d.operand(store ? 0 : 1), space, access);
}

}  // namespace

bool decode_matrix(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  switch (i.op) {
    case Op::mma: return decode_products(d, false);
    case Op::wmma:
      if (i.has(Mod::mma_)) return decode_products(d, true);
      return decode_wmma_access(d, i.has(Mod::store));
    case Op::wgmma: return decode_wgmma(d);
    case Op::ldmatrix: return decode_matrices(d, false);
    case Op::stmatrix: return decode_matrices(d, true);
    case Op::movmatrix: return decode_movmatrix(d);
    default: return false;
  }
}

}  // namespace fullwarp::exec
