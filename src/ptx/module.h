// The tree of a PTX file: what the parser gives and the decoder reads. Names are resolved while parsing:
// operands hold indices into the tables below, never text. All text is std::string_view into
// Module::text, which the module owns. Reference: PTX ISA 9.0 manual.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/warp.h"

namespace fullwarp::ptx {

// First dotted component of an instruction (`ld`, `add`, `bar`, ...); rows of instructions.def, which also
// holds every form an instruction may take (forms.h reads them).
// C++ keywords take a trailing underscore: Op::and_, Op::or_, Op::xor_, Op::not_.
enum class Op : uint16_t {
#define FULLWARP_PTX_OP(identifier, ...) identifier,
#include "ptx/instructions.def"
  count
};

// Every other dotted component that is not a type; rows of modifiers.def. `::` becomes `_` (shared::cta is
// Mod::shared_cta), a leading digit or a C++ keyword gets an underscore (Mod::_1d, Mod::volatile_).
enum class Mod : uint16_t {
#define FULLWARP_PTX_MOD(identifier, text) identifier,
#include "ptx/modifiers.def"
#undef FULLWARP_PTX_MOD
  count
};

enum class Type : uint8_t {
  none,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f32x2,
  f64,
  pred,
  u16x2,
  s16x2,
  u8x4,
  s8x4,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  b1,
  u4,
  s4,
  texref,
  samplerref,
  surfref,
  e2m1,
  e2m3,
  e3m2,
  ue8m0,
  ue4m3,
  e2m1x2,
  e2m3x2,
  e3m2x2,
  ue8m0x2,
  e2m1x4,
  e2m3x4,
  e3m2x4,
  e4m3x4,
  e5m2x4,
  b8x16,
  b6x16_p32,
  b4x16_p64,
  b6p2x16,
  b4x16,
  s8x2,
  u8x2,
  u2,
  s2,
  count,
};
unsigned size_bytes(Type type);  // 0 for none; pred counts 1

enum class Space : uint8_t { generic, reg, sreg, const_, global, local, param, shared };

// A place in the source program, from `.loc`. `inlined_at` is the index in Module::locations of the call
// site into which this code was inlined, or -1.
struct SourceLocation {
  uint32_t file = 0;  // index in Module::files
  uint32_t line = 0;
  uint32_t column = 0;
  int32_t inlined_at = -1;
  std::string_view function;  // name of the inlined function, if any
};

struct Register {
  std::string_view name;  // "%r12"; unique within a function after scoping ("%r12" may stand twice)
  Type type = Type::none;
};

// An address inside an initialiser: 8 bytes (or 4) at `offset` hold the address of `variable`/`function`.
struct Relocation {
  uint32_t offset = 0;
  uint32_t size_bytes = 8;
  int32_t variable = -1;  // index in Module::variables, or -1
  int32_t function = -1;  // index in Module::functions, or -1
  int64_t addend = 0;
  bool generic = false;     // generic(x): the generic address
  uint8_t shift_bytes = 0;  // mask forms, `0xFF00(x)`: the bytes of the address from this one on
};

// A variable of .global, .const, .shared, .local or (inside functions) .param space.
struct Variable {
  std::string_view name;
  Space space = Space::generic;
  Type type = Type::none;  // element type
  uint32_t align = 1;
  uint64_t bytes = 0;  // 0 for `extern .shared x[]` (dynamic shared memory)
  bool external = false;
  bool array = false;
  int32_t function = -1;  // index of the function that declares it, or -1 for module scope
  bool managed = false;   // .attribute(.managed)
  std::vector<std::byte>
      init;  // leading bytes; what follows up to `bytes` is zero (global, const) or undefined
  std::vector<Relocation> relocations;
  uint32_t line = 0;
};

struct Param {  // of an entry, a function or a prototype, in order
  std::string_view name;
  Type type = Type::none;
  uint32_t align = 1;
  uint32_t bytes = 0;  // element size x count
  bool array = false;
  bool pointer = false;  // `.ptr`; what it points to:
  Space pointee_space = Space::generic;
  uint32_t pointee_align = 1;
  int32_t reg = -1;  // device functions may take .reg parameters: index in Function::registers
};

// What an operand names.
struct Operand {
  enum class Kind : uint8_t {
    none,
    reg,        // index = register; negated for `!%p`
    sink,       // `_`
    imm,        // value: integer immediate (also `0f3F800000`/`0d...`: bits, with is_float)
    special,    // special register: index = Special, component 0..3 = x,y,z,w (0 where there is none)
    variable,   // address of a variable: index in Module::variables, value = byte offset
    param,      // address of a kernel or function parameter: index in Function::params, value = offset
    ret_param,  // likewise in Function::returns
    function,   // index in Module::functions (an .alias stands for its target)
    label,      // value = instruction index in the function
    targets,    // .branchtargets: index in Function::branch_targets
    prototype,  // .callprototype: index in Function::prototypes
    vector,     // {a, b, ...}: elements first..first+count-1 in Module::operands
    address,    // [base + value]: base kind in `base`, its index in `index`
    list,       // ( ... ) of a call: like vector
  };
  Kind kind = Kind::none;
  Kind base = Kind::none;  // for address: reg, variable, param, ret_param, imm (absolute), function
  bool negated = false;    // `!` before a predicate, or unary minus before a register
  bool is_float = false;   // the immediate was written as 0f/0d or with a decimal point; value holds bits of
  Type float_type = Type::none;  // ... this type (f32 or f64; decimal constants are f64)
  uint8_t component = 0;
  uint8_t count = 0;  // vector, list: number of elements
  int32_t pair = -1;  // `%p1|%p2` (setp, shfl, match): register index of the second, -1 none, -2 `_`
  uint32_t index = 0;
  uint32_t first = 0;  // vector, list, and address of `[a, b]` forms (tensor coordinates; the first of
                       // these elements is the base itself): see Module::operands
  int64_t value = 0;
};

enum class Special : uint8_t {
#define FULLWARP_PTX_SPECIAL(identifier, text) identifier,
#include "ptx/specials.def"
#undef FULLWARP_PTX_SPECIAL
  count
};

// The operands of a `call` are always four: list of returns (perhaps empty), function or register, list of
// arguments, and prototype or none. `brx.idx` has the index and targets. Elsewhere: as written.
struct Instruction {
  Op op = Op::count;
  uint8_t mod_count = 0;
  uint8_t type_count = 0;
  std::array<Mod, 12> mods = {};   // in the order of the form's pattern, whatever the text has
  std::array<Type, 6> types = {};  // in written order
  int32_t guard = -1;              // predicate register, -1: none
  bool guard_negated = false;
  uint8_t operand_count = 0;
  uint32_t first_operand = 0;  // in Module::operands, destination first
  uint32_t line = 0;           // of the PTX text, from 1
  uint32_t column = 0;         // of the opcode, from 1
  int32_t location = -1;       // in Module::locations, -1: none in force
  uint16_t form = 0;           // row of the table: forms()[form], see forms.h

  bool has(Mod mod) const {
    for (unsigned i = 0; i < mod_count; ++i)
      if (mods[i] == mod) return true;
    return false;
  }
  Type type(unsigned i = 0) const { return i < type_count ? types[i] : Type::none; }
};

struct BranchTargets {
  std::vector<uint32_t> instructions;  // instruction indices, in table order
};

struct Prototype {
  std::vector<Param> returns, params;
};

struct Function {
  std::string_view name;  // mangled, as in the PTX
  bool entry = false;
  bool declared_only = false;  // `.extern .func` or a forward declaration without a body anywhere
  std::vector<Param> returns, params;
  std::vector<Register> registers;  // those that are used; `.reg .v4 .f32 %v` gives %v.x, .y, .z and .w
  std::vector<int32_t> variables;   // indices in Module::variables declared inside (.shared, .local, .param)
  std::vector<Instruction> instructions;
  std::vector<BranchTargets> branch_targets;
  std::vector<Prototype> prototypes;
  std::optional<Dim3> max_ntid, req_ntid, cluster;
  uint32_t min_blocks_per_sm = 0, max_registers = 0;
  bool no_return = false;
  int32_t alias_of = -1;  // `.alias this, other`: index of the other
  uint32_t line = 0;
};

struct SourceFile {
  std::string_view name;
};

// An instruction the table does not know, or one used in a form it does not allow. Its function cannot run;
// the others can.
struct Unsupported {
  int32_t function = -1;
  std::string message;
  uint32_t line = 0, column = 0;
};

struct Module {
  std::string path;  // of the PTX file, for messages
  std::shared_ptr<const std::string> text;
  uint32_t version_major = 0, version_minor = 0;
  uint32_t sm = 0;  // 90 for sm_90 and sm_90a
  std::string_view target;
  uint32_t address_bits = 64;
  std::vector<SourceFile> files;  // by .file index
  std::vector<SourceLocation> locations;
  std::vector<Variable> variables;
  std::deque<Function> functions;
  std::vector<Operand> operands;
  std::vector<Unsupported> unsupported;
  std::deque<std::string> owned_text;  // text that does not stand in the file (decoded strings)

  const Operand* operands_of(const Instruction& i) const { return operands.data() + i.first_operand; }
  int32_t find_function(std::string_view name) const;  // -1 if there is none
  int32_t find_variable(std::string_view name) const;  // module scope only; -1 if there is none
};

std::string_view to_string(Op op);
std::string_view to_string(Mod mod);
std::string_view to_string(Type type);
std::string_view to_string(Special special);

}  // namespace fullwarp::ptx
