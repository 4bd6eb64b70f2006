// See machine_accesses.h; the rules with the experiments behind them are in docs/machine-accesses.md. One
// pass over the function, block by block. Loads wait in groups by window (16 aligned bytes of one base, 8
// where only that much alignment is proved) until something may change what they read; stores wait in one
// group until something else happens to their memory. Closing a group says which pieces go out and who leads
// them.
#include "model/machine_accesses.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <tuple>

#include "model/access_operands.h"
#include "model/address_forms.h"
#include "model/machine_code_accesses.h"

namespace fullwarp::model {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Op;

constexpr size_t kMostOpenWindows = 512;  // in one stretch of code; bounds the search, ptxas has bounds too

struct Member {
  uint32_t instruction = 0;
  int32_t start = 0;   // of its address in the window, bytes
  uint32_t units = 0;  // bit per unit of the window that it uses
};

struct Window {
  AccessClass space = AccessClass::none;
  uint32_t base = 0;
  uint64_t begin = 0;
  uint32_t bytes = 0, unit_bytes = 0;
  uint64_t hints = 0;
  bool read_only = false;
  std::vector<Member> members;

  uint32_t units() const { return bytes / unit_bytes; }
  bool same_place(const Window& o) const {
    return std::tie(space, base, begin, bytes, unit_bytes, hints) ==
           std::tie(o.space, o.base, o.begin, o.bytes, o.unit_bytes, o.hints);
  }
};

struct Piece {
  uint32_t first_unit = 0, units = 0;
  uint32_t mask() const { return ((1u << units) - 1) << first_unit; }
};

// Loads: three of four words go out as one; so does an aligned pair.
std::vector<Piece> load_pieces(uint32_t used, uint32_t units) {
  std::vector<Piece> pieces;
  if (units > 4 || (units == 4 && std::popcount(used) >= 3)) return {{0, units}};
  for (uint32_t first = 0; first < units; first += 2) {
    const uint32_t pair = used >> first & 3;
    if (pair == 3)
      pieces.push_back({first, 2});
    else if (pair)
      pieces.push_back({first + (pair >> 1), 1});
  }
  return pieces;
}

// Stores write no more than they were told to.
std::vector<Piece> store_pieces(uint32_t used, uint32_t units) {
  std::vector<Piece> pieces;
  if (units > 1 && used == (1u << units) - 1) return {{0, units}};
  for (uint32_t first = 0; first < units; first += 2) {
    const uint32_t pair = used >> first & 3;
    if (pair == 3)
      pieces.push_back({first, 2});
    else if (pair)
      pieces.push_back({first + (pair >> 1), 1});
  }
  return pieces;
}

// `.target sm_90, debug` (nvcc -G): ptxas leaves everything as it is.
bool built_for_debugging(const ptx::Module& module) {
  if (!module.text) return false;
  const std::string_view text = *module.text;
  const size_t target = text.find(".target");
  if (target == std::string_view::npos) return false;
  return text.substr(target, text.find('\n', target) - target).find("debug") != std::string_view::npos;
}

class Pass {
 public:
  Pass(const ptx::Module& module, const ptx::Function& function)
      : module_(module),
        function_(function),
        forms_(module, function),
        liveness_(liveness(module, function)),
        out_(function.instructions.size()),
        block_starts_(function.instructions.size() + 1) {
    find_blocks();
  }

  std::vector<MachineAccess> run() {
    const bool optimised = !built_for_debugging(module_);
    for (uint32_t n = 0; n < out_.size(); ++n) {
      const Instruction& i = function_.instructions[n];
      const PtxAccess access = ptx_access(module_, i);
      out_[n].width_bytes = access.bytes();
      if (!optimised) continue;
      if (block_starts_[n]) {
        close_all();
        forms_.begin_block();
      }
      switch (access.kind) {
        case PtxAccess::Kind::load: load(n, i, access); break;
        case PtxAccess::Kind::store: store(n, i, access); break;
        case PtxAccess::Kind::none:
          if (orders_memory(i)) close_memory();
          break;
        default:  // atomics and copies change memory; ldmatrix reads it
          close_stores(access.space);
          if (i.op != Op::ldmatrix) close_loads(access.space);
      }
      forms_.step(i);
    }
    close_all();
    return std::move(out_);
  }

 private:
  void find_blocks() {
    const size_t count = function_.instructions.size();
    const auto mark = [&](uint64_t n) {
      if (n <= count) block_starts_[n] = 1;
    };
    mark(0);
    for (uint32_t n = 0; n < count; ++n) {
      const Instruction& i = function_.instructions[n];
      for (unsigned k = 0; k < i.operand_count; ++k) {
        const ptx::Operand& o = module_.operands_of(i)[k];
        if (o.kind == ptx::Operand::Kind::label) mark(static_cast<uint64_t>(o.value));
      }
      if (i.op == Op::bra || i.op == Op::brx || i.op == Op::ret || i.op == Op::exit) mark(n + 1);
    }
    for (const ptx::BranchTargets& targets : function_.branch_targets)
      for (uint32_t n : targets.instructions) mark(n);
  }

  static bool orders_memory(const Instruction& i) {
    switch (i.op) {
      case Op::bar:
      case Op::barrier:
      case Op::membar:
      case Op::fence:
      case Op::call:
      case Op::mbarrier:
      case Op::cp:
      case Op::wmma:
      case Op::wgmma:
      case Op::tcgen05:
      case Op::red:
      case Op::multimem:
      case Op::griddepcontrol: return true;
      default: return false;
    }
  }

  // The window that an access at this address belongs to.
  Window window_of(uint32_t n, const PtxAccess& access, bool may_share, Member& member) {
    const AddressForms::Address address =
        forms_.address(module_.operands_of(function_.instructions[n])[access.address_operand]);
    Window window;
    window.space = access.space;
    window.read_only = access.read_only;
    window.base = address.base;
    window.begin = address.offset;
    window.bytes = access.bytes();
    window.hints = access.hints;
    window.unit_bytes = access.element_bytes >= 4 || access.bytes() < 4 ? access.element_bytes : 4;
    if (window.bytes % window.unit_bytes != 0) window.unit_bytes = access.element_bytes;  // v3 of odd types
    const bool pairs_up = access.space == AccessClass::shared || access.space == AccessClass::local;
    if (may_share && address.known && pairs_up) {
      uint32_t most = 0;
      if (window.unit_bytes == 4 || window.unit_bytes == 8) most = 16;
      if (window.unit_bytes == 2 && access.kind == PtxAccess::Kind::store) most = 8;
      const uint32_t proved = address.base_zero_bits >= 4 ? 16 : 1u << address.base_zero_bits;
      const uint32_t bytes = std::min(most, proved);
      if (bytes > window.unit_bytes && bytes >= window.bytes && address.offset % window.bytes == 0) {
        window.begin = address.offset & ~uint64_t{bytes - 1};
        window.bytes = bytes;
        window.hints = 0;
      }
    }
    member.instruction = n;
    member.start = static_cast<int32_t>(address.offset - window.begin);
    addresses_known_ = address.known;
    return window;
  }

  // Units of the window that the used elements of the access cover.
  static uint32_t units_of(const Window& window, const Member& member, const PtxAccess& access,
                           uint32_t elements) {
    uint32_t units = 0;
    for (uint32_t e = 0; e < access.elements; ++e)
      if (elements >> e & 1) units |= 1u << ((member.start + e * access.element_bytes) / window.unit_bytes);
    return units;
  }

  void load(uint32_t n, const Instruction& i, const PtxAccess& access) {
    if (!liveness_.live[n]) {
      out_[n].removed = true;
      return;
    }
    if (!access.plain) {
      close_memory();
      return;
    }
    Member member;
    Window window = window_of(n, access, i.guard < 0, member);
    if (i.guard < 0 && addresses_known_ && known_from_store(window, member, access)) {
      out_[n].removed = true;
      return;
    }
    close_stores(access.space);
    const uint32_t elements = liveness_.used_elements[n];
    member.units = units_of(window, member, access, elements);
    narrow_elements(n, window, member, access, elements);
    if (i.guard < 0 && addresses_known_)
      for (Window& open : loads_)
        if (open.same_place(window)) {
          open.members.push_back(member);
          return;
        }
    window.members.push_back(member);
    if (i.guard >= 0 || !addresses_known_)
      emit_loads(window);
    else if (loads_.size() < kMostOpenWindows)
      loads_.push_back(std::move(window));
    else
      emit_loads(window);
  }

  // One used element of fewer than 4 bytes, in a vector of them: the load shrinks to it.
  void narrow_elements(uint32_t n, Window& window, Member& member, const PtxAccess& access,
                       uint32_t elements) {
    if (access.elements == 1 || access.element_bytes >= 4 || std::popcount(elements) != 1) return;
    const uint32_t e = static_cast<uint32_t>(std::countr_zero(elements));
    const uint64_t address = window.begin + static_cast<uint64_t>(member.start) + e * access.element_bytes;
    out_[n].offset_bytes = static_cast<int32_t>(e * access.element_bytes);
    window.begin = address;
    window.bytes = window.unit_bytes = access.element_bytes;
    window.hints = access.hints;
    member.start = -out_[n].offset_bytes;
    member.units = 1;
  }

  void store(uint32_t n, const Instruction& i, const PtxAccess& access) {
    close_loads(access.space);
    if (!access.plain) {
      close_memory();
      return;
    }
    Member member;
    Window window = window_of(n, access, i.guard < 0, member);
    member.units = units_of(window, member, access, ~uint32_t{0});
    Window& open = stores_[static_cast<size_t>(access.space)];
    if (i.guard >= 0 || !addresses_known_) {
      close_stores(access.space);
      return;
    }
    if (!open.members.empty() && open.same_place(window)) {
      open.members.push_back(member);
      return;
    }
    close_stores(access.space);
    window.members.push_back(member);
    open = std::move(window);
  }

  // The load reads exactly what the last store to its memory wrote.
  bool known_from_store(const Window& window, const Member& member, const PtxAccess& access) const {
    const Window& open = stores_[static_cast<size_t>(access.space)];
    if (open.members.empty() || open.space != window.space || open.base != window.base) return false;
    const Member& last = open.members.back();
    const PtxAccess stored = ptx_access(module_, function_.instructions[last.instruction]);
    const uint64_t stored_at = open.begin + static_cast<uint64_t>(last.start);
    return stored_at == window.begin + static_cast<uint64_t>(member.start) &&
           stored.elements == access.elements && stored.element_bytes == access.element_bytes;
  }

  void emit_loads(const Window& window) {
    uint32_t used = 0;
    for (const Member& member : window.members) used |= member.units;
    for (const Piece& piece : load_pieces(used, window.units())) {
      const auto leader = std::find_if(window.members.begin(), window.members.end(),
                                       [&](const Member& m) { return (m.units & piece.mask()) != 0; });
      if (leader == window.members.end()) continue;
      for (const Member& member : window.members)
        if (member.units & piece.mask()) place(window, member, piece, *leader);
    }
  }

  void emit_stores(Window& window) {
    uint32_t used = 0;
    for (auto member = window.members.rbegin(); member != window.members.rend(); ++member) {
      member->units &= ~used;  // a later store hides it
      if (member->units == 0) out_[member->instruction].removed = true;
      used |= member->units;
    }
    for (const Piece& piece : store_pieces(used, window.units())) {
      const auto leader = std::find_if(window.members.rbegin(), window.members.rend(),
                                       [&](const Member& m) { return (m.units & piece.mask()) != 0; });
      if (leader == window.members.rend()) continue;
      for (const Member& member : window.members)
        if (member.units & piece.mask()) place(window, member, piece, *leader);
    }
    window.members.clear();
  }

  void place(const Window& window, const Member& member, const Piece& piece, const Member& leader) {
    MachineAccess& access = out_[member.instruction];
    const int32_t offset = static_cast<int32_t>(piece.first_unit * window.unit_bytes) - member.start;
    const bool first = placed_.size() <= member.instruction || !placed_[member.instruction];
    placed_.resize(out_.size());
    if (!first) {  // the second piece of a vector
      if (access.leader < 0 && leader.instruction == member.instruction) access.split_offset_bytes = offset;
      if (access.leader >= 0 && leader.instruction == member.instruction) {
        access.leader = -1;
        access.offset_bytes = offset;
      }
      return;
    }
    placed_[member.instruction] = 1;
    access.width_bytes = piece.units * window.unit_bytes;
    access.offset_bytes = offset;
    access.leader = leader.instruction == member.instruction ? -1 : static_cast<int32_t>(leader.instruction);
  }

  static bool overlap(AccessClass a, AccessClass b) {
    return a == b || a == AccessClass::generic || b == AccessClass::generic;
  }

  void close_loads(AccessClass space) {
    std::erase_if(loads_, [&](const Window& window) {
      if (window.read_only || !overlap(window.space, space)) return false;
      emit_loads(window);
      return true;
    });
  }

  void close_stores(AccessClass space) {
    for (Window& open : stores_)
      if (!open.members.empty() && overlap(open.space, space)) emit_stores(open);
  }

  void close_memory() {
    close_loads(AccessClass::generic);
    close_stores(AccessClass::generic);
  }

  void close_all() {
    close_stores(AccessClass::generic);
    for (const Window& window : loads_) emit_loads(window);
    loads_.clear();
  }

  const ptx::Module& module_;
  const ptx::Function& function_;
  AddressForms forms_;
  Liveness liveness_;
  std::vector<MachineAccess> out_;
  std::vector<uint8_t> block_starts_, placed_;
  std::vector<Window> loads_;
  std::array<Window, 5> stores_;  // by AccessClass
  bool addresses_known_ = false;
};

}  // namespace

std::vector<MachineAccess> machine_accesses(const ptx::Module& module, int32_t function,
                                            const cubin::Kernel* machine_code) {
  if (function < 0 || static_cast<size_t>(function) >= module.functions.size()) return {};
  const ptx::Function& f = module.functions[static_cast<size_t>(function)];
  std::vector<MachineAccess> accesses = Pass(module, f).run();
  if (machine_code && machine_code->has_lines) apply_machine_code(module, f, *machine_code, accesses);
  return accesses;
}

}  // namespace fullwarp::model
