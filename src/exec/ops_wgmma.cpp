// wgmma: products that four warps of sm_90 make together from matrices in shared memory.
//
// Each warp's 16 of the 64 rows depend on its own part of A and on all of B, so that every warp multiplies
// when it comes to the instruction, and needs no other: as mma.m16n8 for each eight columns of B. What lies
// in shared memory is read there and then, where the hardware reads it at any time up to wgmma.wait_group;
// neither a write in between nor a missing fence.proxy.async is noticed. To the race detector the warp reads
// what it needs. An H200 counts a wavefront for each 128 bytes of the matrices, however they lie
// (tests/hardware/h200_wgmma.csv).
//
// A warp's registers of A are those of mma's A. A line of 32 bytes along K is two units of 16 (wgmma.h);
// eight lines of one unit are a register of the 32 lanes, as they lie.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exec/access.h"
#include "exec/handlers.h"
#include "exec/matrix_ops.h"
#include "exec/mma_tiles.h"
#include "exec/semantics/wgmma.h"
#include "exec/worker.h"

namespace fullwarp::exec {

using ptx::Mod;
using ptx::Operand;
using ptx::Type;
using sem::MatrixType;

namespace {

constexpr unsigned kUnitBytes = 16, kWarpsOfGroup = 4;

struct WgmmaInfo {
  sem::Mma tile;            // 16 rows, 8 columns
  unsigned tiles = 0;       // of 8 columns
  std::vector<uint32_t> d;  // rows of registers, tile by tile
  std::vector<uint32_t> a;  // rows of A's registers; empty: A lies in shared memory
  uint32_t a_descriptor = 0, b_descriptor = 0;
  bool a_by_k = false, b_by_k = false;  // lines contiguous, not K
  uint32_t accumulate = 0;              // row of the predicate scale-d
  uint32_t sign_bits = 0;               // to exchange in A's registers
};

// The registers of 32 lanes that hold 8 lines of 16 bytes along K.
using Register = std::array<uint32_t, kWarpSize>;

// Reads the units at `count` addresses of shared memory; those that lie outside of it are zero, and reported.
void read_units(Warp& w, const MicroOp* op, const uint64_t* address, unsigned count, std::byte* to) {
  LaneTarget target[kWarpSize];
  const LaneMask lanes = count == kWarpSize ? kFullMask : (LaneMask{1} << count) - 1;
  const LaneMask there = access_lanes(w, op, Addressing::shared, op->site, address, lanes, kUnitBytes,
                                      mem::AccessKind::tensor_load, target);
  for (unsigned i = 0; i < count; ++i, to += kUnitBytes) {
    if ((there >> i) & 1)
      std::memcpy(to, target[i].data, kUnitBytes);
    else
      std::memset(to, 0, kUnitBytes);
  }
}

// The registers of up to 16 lines from `first` on: lines 0 to 7 of unit 0, lines 8 to 15 of it, then unit 1.
void read_lines(Warp& w, const MicroOp* op, const sem::MatrixDescriptor& matrix, bool by_k, unsigned first,
                unsigned lines, Register* to) {
  const unsigned eights = lines / 8;
  uint64_t address[kWarpSize];
  unsigned count = 0;
  if (!by_k) {
    for (unsigned unit = 0; unit < 2; ++unit)
      for (unsigned line = 0; line < lines; ++line)
        address[count++] = matrix.unit_of_line(first + line, unit);
    read_units(w, op, address, count, reinterpret_cast<std::byte*>(to));
    return;
  }
  for (unsigned eight = 0; eight < eights; ++eight)
    for (unsigned k = 0; k < 16; ++k) address[count++] = matrix.unit_of_k(first / 8 + eight, k);
  uint16_t units[kWarpSize][8];  // [eight, k][line]
  read_units(w, op, address, count, reinterpret_cast<std::byte*>(units));
  for (unsigned unit = 0; unit < 2; ++unit)
    for (unsigned eight = 0; eight < eights; ++eight) {
      uint16_t lying[8][8];  // [line][k]
      for (unsigned k = 0; k < 8; ++k)
        for (unsigned line = 0; line < 8; ++line) lying[line][k] = units[16 * eight + 8 * unit + k][line];
      std::memcpy(to[unit * eights + eight].data(), lying, sizeof lying);
    }
}

// Counts the warp's share of what the group reads: its own quarter of A, and one of B as even as can be.
void count_reads(Warp& w, const MicroOp* op, const WgmmaInfo& info) {
  constexpr unsigned kWavefrontBytes = 128, kLineBytes = 2 * kUnitBytes;
  const unsigned of_a = info.a.empty() ? 16 * kLineBytes / kWavefrontBytes : 0;
  const unsigned of_b = 8 * info.tiles * kLineBytes / kWavefrontBytes, rank = w.index % kWarpsOfGroup;
  const unsigned wavefronts = of_a + (of_b + kWarpsOfGroup - 1 - rank) / kWarpsOfGroup;
  Site& site = w.sites[op->site];
  site.space = mem::AccessSpace::shared;
  profile::MemoryCounters& counters = site.counters;
  ++counters.requests;
  counters.lanes += kWarpSize;
  counters.bytes_asked += wavefronts * kWavefrontBytes;
  counters.wavefronts += wavefronts;
  counters.ideal_wavefronts += wavefronts;
  counters.least_wavefronts += wavefronts;
}

// Says what is wrong with how the warp came here, if anything is.
std::string misuse(Warp& w, const WgmmaInfo& info) {
  const uint32_t group = w.index / kWarpsOfGroup * kWarpsOfGroup, threads = w.block->threads;
  if (w.participants != kFullMask || (group + kWarpsOfGroup) * kWarpSize > threads)
    return "wgmma is for all threads of four whole warps, of which the first has a number that four divides";
  const auto differs = [&](uint32_t row) {
    const uint64_t* const value = w.row<uint64_t>(row);
    return std::any_of(value, value + kWarpSize, [&](uint64_t v) { return v != value[0]; });
  };
  const LaneMask accumulate = w.pred(info.accumulate);
  if ((info.a.empty() && differs(info.a_descriptor)) || differs(info.b_descriptor) ||
      (accumulate != 0 && accumulate != kFullMask))
    return "the descriptors and scale-d of wgmma have to be the same in all lanes";
  return {};
}

const MicroOp* multiply_group(Warp& w, const MicroOp* op) {
  const unsigned lane = static_cast<unsigned>(std::countr_zero(w.participants));
  if (!((w.exec >> lane) & 1)) return op + 1;  // the fragment with the first lane does it all
  const WgmmaInfo& info = *static_cast<const WgmmaInfo*>(op->info);
  if (std::string why = misuse(w, info); !why.empty()) {
    report_fault(w, op, profile::FaultKind::invalid_instruction, lane).detail = std::move(why);
    return op + 1;
  }
  count_reads(w, op, info);
  const LaneMask exec = std::exchange(w.exec, kFullMask);
  std::array<Register, 4> a;
  if (info.a.empty())
    read_lines(w, op, sem::MatrixDescriptor(w.row<uint64_t>(info.a_descriptor)[0]), info.a_by_k,
               w.index % kWarpsOfGroup * 16, 16, a.data());
  for (unsigned r = 0; r < 4; ++r) {
    if (!info.a.empty()) std::memcpy(a[r].data(), w.row<uint32_t>(info.a[r]), sizeof(Register));
    for (uint32_t& word : a[r]) word ^= info.sign_bits;
  }
  const uint32_t* const a_rows[4] = {a[0].data(), a[1].data(), a[2].data(), a[3].data()};
  const sem::MatrixDescriptor matrix(w.row<uint64_t>(info.b_descriptor)[0]);
  const bool accumulate = w.pred(info.accumulate) != 0;
  const Register zeros{};
  const unsigned registers = static_cast<unsigned>(info.d.size()) / info.tiles;
  for (unsigned first = 0; first < info.tiles; first += 2) {
    const unsigned together = std::min(2u, info.tiles - first);
    std::array<Register, 4> b;
    read_lines(w, op, matrix, info.b_by_k, 8 * first, 8 * together, b.data());
    for (unsigned t = 0; t < together; ++t) {
      const uint32_t* const b_rows[2] = {b[t].data(), b[together + t].data()};
      const uint32_t* c[4];
      uint32_t* d[4];
      for (unsigned r = 0; r < registers; ++r) {
        d[r] = w.row<uint32_t>(info.d[(first + t) * registers + r]);
        c[r] = accumulate ? d[r] : zeros.data();
      }
      mma_by_tiles(info.tile, a_rows, b_rows, c, d);
    }
  }
  w.exec = exec;
  return op + 1;
}

const MicroOp* nothing(Warp&, const MicroOp* op) { return op + 1; }

// The shape m64nNkK by its name.
struct GroupShape {
  unsigned n = 0, k = 0;
};
GroupShape shape_of(const ptx::Instruction& i) {
  for (unsigned m = 0; m < i.mod_count; ++m) {
    const std::string name(ptx::to_string(i.mods[m]));
    if (!name.starts_with("m64n")) continue;
    const size_t k = name.find('k');
    return {static_cast<unsigned>(std::stoul(name.substr(4, k - 4))),
            static_cast<unsigned>(std::stoul(name.substr(k + 1)))};
  }
  return {};
}

// Rows of the registers of a list; false after failing.
bool rows_of(Decoder& d, const Operand& operand, size_t count, bool written, std::vector<uint32_t>& rows) {
  if (operand.kind != Operand::Kind::vector || operand.count != count)
    return !d.fail("takes a list of " + std::to_string(count) + " registers");
  for (unsigned r = 0; r < count; ++r) {
    const Operand& element = d.element(operand, r);
    rows.push_back(written ? d.destination(element, Type::b32) : d.source(element, Type::b32));
  }
  return !d.error();
}

// Sets the bits of each element's sign in a register.
uint32_t signs_of(MatrixType type) {
  switch (sem::element_bits(type)) {
    case 8: return 0x80808080u;
    case 16: return 0x80008000u;
    default: return 0x80000000u;
  }
}

bool decode_group_product(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  if (i.has(Mod::sp)) return d.fail("products of sparse matrices are not supported");
  const GroupShape shape = shape_of(i);
  const std::optional<MatrixType> sum = matrix_type(i.type(0)), a = matrix_type(i.type(1)),
                                  b = matrix_type(i.type(2));
  if (!sum || !a || !b || shape.n == 0 || i.operand_count < 4)
    return d.fail("is a form that is not supported");
  const bool integer = *sum == MatrixType::s32, half = *sum == MatrixType::f16;
  const bool transposable = sem::element_bits(*a) == 16;
  if (shape.k * sem::element_bits(*a) != 256 || !has_products(*a, *b, *sum))
    return d.fail("there are no such products in this shape");
  auto info = std::make_shared<WgmmaInfo>(WgmmaInfo{
      sem::make_mma({16, 8, static_cast<uint16_t>(shape.k)}, *a, *b, *sum, *sum), shape.n / 8, {}, {}});
  info->tile.satfinite = i.has(Mod::satfinite);
  info->tile.bit_op = sem::BitOp::and_;
  // d, a, b, scale-d; then of floats: the signs of A and B; then of 16 bits: of each matrix in shared memory,
  // whether its lines are contiguous.
  const bool a_in_registers = d.operand(1).kind == Operand::Kind::vector;
  const unsigned after_signs = integer ? 4 : 6;
  const unsigned expected = after_signs + (transposable ? (a_in_registers ? 1u : 2u) : 0u);
  if (i.operand_count != expected)
    return d.fail("takes " + std::to_string(expected) + " operands in this form");
  std::array<bool, 4> flag{};  // signs of A and B: is it -1; then the layouts: is it 1
  for (unsigned k = 4; k < expected; ++k) {
    const std::optional<uint64_t> value = d.constant_value(d.operand(k));
    const int64_t number = value ? static_cast<int32_t>(*value) : 2;
    const bool sign = k < after_signs;
    if (number != 1 && number != (sign ? -1 : 0))
      return d.fail(sign ? "an operand's sign has to be 1 or -1" : "a layout has to be 0 or 1");
    flag[k - 4] = number == (sign ? -1 : 1);
  }
  if (!integer && flag[0] != flag[1]) info->sign_bits = signs_of(*a);
  if (transposable) {
    info->a_by_k = !a_in_registers && flag[2];
    info->b_by_k = flag[a_in_registers ? 2 : 3];
  }
  if (!rows_of(d, d.operand(0), size_t{info->tiles} * (half ? 2 : 4), true, info->d)) return true;
  if (a_in_registers) {
    if (!rows_of(d, d.operand(1), 4, false, info->a)) return true;
  } else {
    info->a_descriptor = d.source(1, Type::b64);
  }
  info->b_descriptor = d.source(2, Type::b64);
  info->accumulate = d.source(3, Type::pred);
  if (d.error()) return true;
  const uint32_t site = new_memory_site(d, ptx::Space::shared, mem::AccessKind::tensor_load, kUnitBytes);
  emit_rendezvous(d, d.constant32(kFullMask));
  MicroOp& op = d.emit({multiply_group, nullptr});
  op.site = site;
  op.flags = kNotCounted;
  op.info = info.get();
  d.out.infos.push_back(std::move(info));
  return true;
}

}  // namespace

bool decode_wgmma(Decoder& d) {
  if (d.instruction().has(Mod::mma_async)) return decode_group_product(d);
  d.emit({nothing, nullptr});  // fence, commit_group, wait_group: products are there at once
  return true;
}

}  // namespace fullwarp::exec
