// From PTX to micro-ops. The families (ops_*.cpp) each decode their instructions through the Decoder, which
// knows where operands lie, fills constants, and numbers the counters.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exec/cfg.h"
#include "exec/liveness.h"
#include "exec/program.h"

namespace fullwarp::exec {

class Decoder {
 public:
  Decoder(const ptx::Module& module, Program& program, const ptx::Function& function, FunctionProgram& out);

  const ptx::Module& module;
  Program& program;
  const ptx::Function& function;
  FunctionProgram& out;

  // The instruction at hand and its operands.
  const ptx::Instruction& instruction() const { return *current_; }
  const ptx::Operand& operand(unsigned i) const { return module.operands_of(*current_)[i]; }
  unsigned operand_count() const { return current_->operand_count; }
  const ptx::Operand& element(const ptx::Operand& vector, unsigned i) const {
    return module.operands[vector.first + i];
  }

  // Offset of the row that holds an operand's value, read as `type`: a register's own row, a constant's, or a
  // temporary that an op emitted here fills (special registers, local addresses).
  uint32_t source(const ptx::Operand& operand, ptx::Type type);
  uint32_t source(unsigned i, ptx::Type type) { return source(operand(i), type); }
  // Row of a destination register; a scratch row for `_`.
  uint32_t destination(const ptx::Operand& operand, ptx::Type type);
  uint32_t destination(unsigned i, ptx::Type type) { return destination(operand(i), type); }
  uint32_t register_row(int32_t reg) const { return register_row_[static_cast<size_t>(reg)]; }
  ptx::Type register_type(int32_t reg) const { return function.registers[static_cast<size_t>(reg)].type; }
  uint32_t constant32(uint32_t value);
  uint32_t constant64(uint64_t value);
  uint32_t constant_pred(LaneMask value);
  // Where the tag of a register (also as the base of an address) lies; 0: it has none (steady.h).
  uint32_t tag_row(const ptx::Operand& operand) const;
  bool is_uniform(const ptx::Operand& operand) const;
  uint32_t temporary(unsigned bytes);  // a fresh row, 64-byte aligned
  ParamSlot param_slot(uint32_t bytes);
  const ParamSlot* slot_of(
      const ptx::Operand& operand) const;  // `.param` variable, parameter or return value
  // If the destination register is written nowhere else, unconditionally, it can stand for the row (a
  // constant's) from here on and no op is needed. True if so.
  bool alias(const ptx::Operand& destination, uint32_t row, ptx::Type type);
  static bool is_constant_row(uint32_t row) { return static_cast<int32_t>(row) < 0; }
  // The constant value of an operand where it is known now.
  std::optional<uint64_t> constant_value(const ptx::Operand& operand) const;
  uint64_t variable_address(uint32_t variable) const;  // .global, .const: device address; .shared: offset

  MicroOp& emit(Handlers handlers);
  MicroOp& emit(Handlers handlers, uint32_t dst, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0,
                uint32_t d = 0);
  uint32_t new_site(const SiteInfo& info);
  uint32_t new_division();

  // Says why the instruction cannot be executed; the launch fails with this error.
  bool fail(const std::string& why);
  const std::optional<Error>& error() const { return error_; }

  bool decode();  // the whole function

 private:
  friend struct ControlDecoder;
  void assign_rows();
  void count_definitions();
  void list_cleared();
  // May the instruction's results go to all lanes, whoever runs (Liveness::kept_waiting)?
  bool may_write_whole_rows(const ptx::Instruction& instruction) const;
  void find_tags(const Cfg& cfg);
  bool decode_steady();  // an operation that passes a tag on
  void renew_tags();     // of what the instruction at hand has written
  void emit_block(const Cfg& cfg, uint32_t block);
  bool decode_item(const Cfg& cfg, const Item& item, uint32_t block);

  const ptx::Instruction* current_ = nullptr;
  Liveness live_;
  bool whole_rows_ = false;  // of the current instruction
  std::vector<uint32_t> register_row_;
  uint32_t predicate_bytes_ = 0;
  std::vector<uint8_t> definitions_;  // of each register: 0, 1 or 2 for more
  std::vector<bool> uniform_;
  std::vector<uint32_t> tag_row_;  // by register
  std::map<std::pair<uint64_t, unsigned>, uint32_t> constants_;
  std::vector<std::pair<uint32_t, std::vector<std::byte>>> constant_rows_;
  uint32_t next_constant_ = 0;
  uint32_t next_row_ = 0;
  std::map<int32_t, ParamSlot> variable_slot_;
  std::optional<Error> error_;
  struct Fixup {
    size_t op;
    uint32_t block;
  };
  std::vector<Fixup> fixups_;
  std::vector<size_t> block_start_;
};

// Each returns true if it decoded the instruction (or failed with Decoder::fail), false if it is not one of
// its.
bool decode_move(Decoder& d);  // mov, selp, cvta, isspacep, special registers
bool decode_integer(Decoder& d);
bool decode_logic(Decoder& d);  // and, or, shl, setp, set, slct, prmt, ...
bool decode_float(Decoder& d);
bool decode_half(Decoder& d);  // f16, bf16, their pairs, and cvt of narrow formats (decode_narrow)
bool decode_narrow(Decoder& d);
bool decode_video(Decoder& d);
bool decode_convert(Decoder& d);
bool decode_memory(Decoder& d);   // ld, st, ldu, prefetch
bool decode_atomic(Decoder& d);   // atom, red
bool decode_async(Decoder& d);    // cp.async, mbarrier
bool decode_warp(Decoder& d);     // shfl, vote, match, redux, elect, activemask, bar.warp
bool decode_barrier(Decoder& d);  // bar, barrier, membar, fence, nanosleep
bool decode_matrix(Decoder& d);   // mma, wmma, ldmatrix, stmatrix, movmatrix
bool decode_control(Decoder& d, const Cfg& cfg, const Item& item, uint32_t block);

// Sets Program::ordered and the granules of the shadows from the instructions that can run.
void scan_visibility(Program& program, const std::vector<int32_t>& functions);

// Which parameters of an entry can be seen to end in the address of a store to global memory, of an atomic,
// or of either (`changed`). `complete`: there are no others, as far as such addresses come from parameters at
// all. `read`: those whose memory a load or any other instruction but an atomic may read; all of them where
// that is not known.
struct StoredParameters {
  std::vector<bool> stored, atomic, changed, read;
  bool complete = true;
};
StoredParameters stored_parameters(const ptx::Module& module, const ptx::Function& function);

// Decodes the entry and all it can reach.
struct LaunchShape {
  Dim3 grid, block;
  uint64_t dynamic_shared_bytes = 0;
  uint64_t param_buffer = 0;
  bool check_races = true;
  const std::vector<std::vector<mem::MachineAccess>>* machine = nullptr;
};
Result<Program> decode_program(const ptx::Module& module, const DeviceMemory& memory, int32_t entry,
                               const LaunchShape& shape);

}  // namespace fullwarp::exec
