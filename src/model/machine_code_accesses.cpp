// See machine_code_accesses.h. The line table leads from machine code to lines of PTX. A PTX access whose
// line has a memory operation of its kind goes out by itself, as wide as that operation; one whose line has
// none was merged or removed, and the rules' word is taken for which, or a wider operation of the same base
// that covers it. Lines with several PTX accesses (hand-written files) stay as the rules have them.
#include "model/machine_code_accesses.h"

#include <algorithm>
#include <map>

#include "model/access_operands.h"
#include "model/address_forms.h"

namespace fullwarp::model {
namespace {

using cubin::MachineKind;
using cubin::MachineSpace;

struct Found {
  uint32_t accesses = 0;                // PTX accesses on the line
  std::map<uint32_t, uint32_t> widths;  // width -> machine operations
};

bool same_kind(const PtxAccess& ptx, const cubin::MachineOp& op) {
  switch (ptx.kind) {
    case PtxAccess::Kind::load: return op.kind == MachineKind::load;
    case PtxAccess::Kind::store: return op.kind == MachineKind::store;
    case PtxAccess::Kind::atomic: return op.kind == MachineKind::atomic || op.kind == MachineKind::reduction;
    case PtxAccess::Kind::matrix:
      return op.kind == MachineKind::matrix_load || op.kind == MachineKind::matrix_store;
    case PtxAccess::Kind::async_copy: return op.kind == MachineKind::async_copy;
    case PtxAccess::Kind::none: return false;
  }
  return false;
}

struct Located {
  PtxAccess ptx;
  AddressForms::Address address;
  uint32_t block = 0;
};

std::vector<Located> locate(const ptx::Module& module, const ptx::Function& function) {
  std::vector<Located> out(function.instructions.size());
  std::vector<uint8_t> starts(out.size() + 1);
  for (uint32_t n = 0; n < out.size(); ++n) {
    const ptx::Instruction& i = function.instructions[n];
    for (unsigned k = 0; k < i.operand_count; ++k) {
      const ptx::Operand& o = module.operands_of(i)[k];
      if (o.kind == ptx::Operand::Kind::label && static_cast<uint64_t>(o.value) < starts.size())
        starts[o.value] = 1;
    }
    if (i.op == ptx::Op::bra || i.op == ptx::Op::brx || i.op == ptx::Op::ret) starts[n + 1] = 1;
  }
  AddressForms forms(module, function);
  uint32_t block = 0;
  for (uint32_t n = 0; n < out.size(); ++n) {
    const ptx::Instruction& i = function.instructions[n];
    if (starts[n]) {
      ++block;
      forms.begin_block();
    }
    out[n].block = block;
    out[n].ptx = ptx_access(module, i);
    if (out[n].ptx.kind != PtxAccess::Kind::none)
      out[n].address = forms.address(module.operands_of(i)[out[n].ptx.address_operand]);
    forms.step(i);
  }
  return out;
}

// Start of the machine access of `width` bytes that covers the address, relative to it.
int32_t covering_offset(const AddressForms::Address& address, uint32_t width) {
  return -static_cast<int32_t>(address.offset % width);
}

}  // namespace

void apply_machine_code(const ptx::Module& module, const ptx::Function& function,
                        const cubin::Kernel& machine_code, std::vector<MachineAccess>& accesses) {
  const std::vector<Located> located = locate(module, function);
  std::map<uint32_t, Found> lines;
  std::map<uint32_t, uint32_t> access_of_line;
  for (uint32_t n = 0; n < located.size(); ++n) {
    if (located[n].ptx.kind == PtxAccess::Kind::none) continue;
    ++lines[function.instructions[n].line].accesses;
    access_of_line[function.instructions[n].line] = n;
  }
  for (const cubin::MachineInstruction& m : machine_code.code) {
    const auto line = access_of_line.find(m.ptx_line);
    if (line != access_of_line.end() && same_kind(located[line->second].ptx, m.op))
      ++lines[m.ptx_line].widths[m.op.width_bytes];
  }

  std::vector<uint32_t> leaders;  // accesses that machine code shows to be wider than their PTX
  std::vector<uint8_t> decided(accesses.size());
  for (uint32_t n = 0; n < accesses.size(); ++n) {
    if (located[n].ptx.kind == PtxAccess::Kind::none) continue;
    const Found& found = lines[function.instructions[n].line];
    if (found.accesses != 1) {
      decided[n] = 1;
      continue;
    }
    if (found.widths.empty()) continue;
    MachineAccess& access = accesses[n];
    decided[n] = 1;
    const bool agreed = access.counts() && found.widths.contains(access.width_bytes);
    if (!agreed) {
      const uint32_t width = found.widths.rbegin()->first;
      access = {};
      access.width_bytes = width;
      if (width > located[n].ptx.bytes()) access.offset_bytes = covering_offset(located[n].address, width);
    }
    if (access.width_bytes > located[n].ptx.bytes()) leaders.push_back(n);
  }
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> leaders_of, decided_of;  // by block and base
  for (uint32_t n : leaders) leaders_of[{located[n].block, located[n].address.base}].push_back(n);
  for (uint32_t n = 0; n < accesses.size(); ++n)
    if (decided[n] && accesses[n].counts())
      decided_of[{located[n].block, located[n].address.base}].push_back(n);
  // ptxas may gather two accesses and part them again, both under the line of the first.
  const auto under_another_line = [&](uint32_t n) {
    for (uint32_t other : decided_of[{located[n].block, located[n].address.base}]) {
      const Found& found = lines[function.instructions[other].line];
      const auto same = found.widths.find(accesses[n].width_bytes);
      if (same != found.widths.end() && same->second >= 2 &&
          located[other].ptx.space == located[n].ptx.space &&
          located[other].ptx.kind == located[n].ptx.kind &&
          located[other].address.offset / 16 == located[n].address.offset / 16)
        return true;
    }
    return false;
  };

  for (uint32_t n = 0; n < accesses.size(); ++n) {
    if (located[n].ptx.kind == PtxAccess::Kind::none || decided[n]) continue;
    MachineAccess& access = accesses[n];
    const bool led = access.leader >= 0 && decided[static_cast<size_t>(access.leader)] &&
                     accesses[static_cast<size_t>(access.leader)].counts();
    if (access.removed || led) continue;
    if (access.counts() && located[n].address.known && under_another_line(n)) continue;
    access.removed = true;
    access.leader = -1;
    if (!located[n].address.known) continue;
    for (uint32_t leader : leaders_of[{located[n].block, located[n].address.base}]) {
      const uint32_t width = accesses[leader].width_bytes;
      const bool covers = located[leader].ptx.kind == located[n].ptx.kind &&
                          located[leader].ptx.space == located[n].ptx.space &&
                          located[leader].address.offset / width == located[n].address.offset / width;
      if (!covers) continue;
      access.removed = false;
      access.leader = static_cast<int32_t>(leader);
      access.width_bytes = width;
      access.offset_bytes = covering_offset(located[n].address, width);
      break;
    }
  }
}

}  // namespace fullwarp::model
