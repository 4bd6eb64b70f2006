// Small pieces that several families share while decoding.
#pragma once

#include "exec/decode.h"
#include "exec/micro_op.h"

namespace fullwarp::exec {

// Flag of branches, indirect calls and `brx.idx`: the op behind it is no op but names, in `target`, where
// lanes that part here meet again.
inline constexpr uint32_t kNamesReconvergence = 1;

Handlers narrow_row_handlers();          // 32-bit row <- low halves of a 64-bit row
Handlers widen_row_handlers(bool sign);  // 64-bit row <- 32-bit row
Handlers move_handlers(bool wide);       // row <- row
Handlers negate_predicate_handlers();
// Emits the ops that put a special register or the address of a local or .param variable into a row.
bool emit_special(Decoder& d, const ptx::Operand& operand, uint32_t row, bool wide);
// Offset of a kernel parameter in the parameter bytes.
uint32_t kernel_param_offset(const ptx::Function& function, uint32_t index);
uint32_t kernel_param_offset_end(const ptx::Function& function, uint32_t index);  // ... of the byte behind it
bool atomic_result_is_used(const Decoder& d);                                     // of the `atom` at hand
// The state space an instruction names; generic where it names none.
ptx::Space space_of(const ptx::Instruction& instruction);
bool is_strong(const ptx::Instruction& instruction);  // volatile, relaxed, acquire, release
// The row of an address operand's base and what is added to it. Shared addresses are 32-bit rows.
struct MemoryAddress {
  uint32_t row = 0;
  int64_t imm = 0;
};
MemoryAddress decode_address(Decoder& d, const ptx::Operand& operand, ptx::Space space);
// A new site for the instruction at hand; for generic accesses three in a row (site.h).
uint32_t new_memory_site(Decoder& d, ptx::Space space, mem::AccessKind kind, unsigned width);
// Emits a rendezvous over the members in the row (or the constant) before the next op.
void emit_rendezvous(Decoder& d, uint32_t members_row);

}  // namespace fullwarp::exec
