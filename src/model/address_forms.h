// What ptxas can prove about addresses, for machine_accesses.cpp: every register's value as a sum of
// multiples of unknown values ("roots") plus a constant, so that [%r7] and [%r6+8] are seen to be neighbours,
// and how many low bits of every root are known to be zero, so that they are seen to be aligned.
//
//   shl %r5, %tid.x, 4 ; add %r6, tile, %r5 ; add %r7, %r6, 8     ->   %r7 = tile + 16 * tid.x + 8
//
// Values are followed within a basic block and through registers that are written once; a register that is
// written in several places is a new root in every block, aligned as its worst writer is.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "ptx/module.h"
#include "ptx/writes.h"

namespace fullwarp::model {

inline constexpr unsigned kZeroBitsCap = 6;  // alignments beyond 64 bytes are all the same

struct Form {
  std::vector<std::pair<uint32_t, uint64_t>> terms;  // (root, factor), roots rising, factors not 0
  uint64_t constant = 0;
  bool operator<(const Form& other) const {
    return constant != other.constant ? constant < other.constant : terms < other.terms;
  }
};

class AddressForms {
 public:
  // `sm` decides how symbols count: before 9.0 their place in shared memory is a constant to ptxas.
  AddressForms(const ptx::Module& module, const ptx::Function& function);

  void begin_block() { in_block_.clear(); }
  // Notes what the instruction writes; to be called for every instruction in order.
  void step(const ptx::Instruction& instruction);

  // Of an address operand.
  struct Address {
    uint32_t base = 0;  // equal for addresses that differ by a constant
    uint64_t offset = 0;
    unsigned base_zero_bits = 0;  // of the base: kZeroBitsCap at most
    bool known = false;
  };
  Address address(const ptx::Operand& operand);

 private:
  using Operand = ptx::Operand;
  Form form_of(const Operand& operand);
  Form register_form(uint32_t reg);
  Form variable_form(uint32_t variable);
  Form result_of(const ptx::Instruction& instruction, unsigned bits);
  Form opaque(const ptx::Instruction& instruction, unsigned bits);
  Form root(unsigned zero_bits);
  unsigned zero_bits(const Form& form) const;
  unsigned register_zero_bits(const Operand& operand) const;
  void place_shared_variables();
  void find_zero_bits();

  const ptx::Module& module_;
  const ptx::Function& function_;
  std::vector<uint32_t> writes_;             // per register: how many instructions write it
  std::vector<uint8_t> register_zero_bits_;  // per register, over all its writers
  std::vector<uint8_t> root_zero_bits_;
  std::map<uint32_t, Form> in_block_;  // registers that several instructions write
  std::map<uint32_t, Form> once_;      // registers that one instruction writes
  std::map<uint32_t, Form> variables_;
  std::map<std::vector<uint64_t>, uint32_t> opaque_;  // operation and operands -> root
  std::map<Form, uint32_t> bases_;
  std::map<int32_t, uint64_t> shared_offset_;  // where the function's variables lie in shared memory
};

}  // namespace fullwarp::model
