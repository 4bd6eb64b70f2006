// The parser's state and its steps. One pass over the text, by recursive descent; each step returns false
// after it has noted an error, and everything above it stops. The steps are spread over files by what they
// read: parser.cpp modules, parse_function.cpp heads of functions, parse_body.cpp statements,
// parse_operand.cpp operands, parse_constant.cpp numbers and expressions, parse_variable.cpp registers,
// variables and initialisers, parse_debug.cpp .file, .loc and .section.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ptx/forms.h"
#include "ptx/module.h"
#include "ptx/opcode_cache.h"
#include "ptx/scanner.h"
#include "ptx/symbols.h"

namespace fullwarp::ptx {

// Bounds on what a file may ask for. Far beyond what compilers write.
inline constexpr uint32_t kMaxScopes = 128;
inline constexpr uint32_t kMaxExpressionDepth = 64;
inline constexpr uint32_t kMaxRangeCount = 1u << 24;     // `%r<N>`
inline constexpr size_t kLeastArrayMembers = 4096;       // of ranges; half the text's size comes on top
inline constexpr uint64_t kMaxVariableBytes = 1u << 31;  // exclusive
inline constexpr uint64_t kMaxInitBytes = 64u << 20;     // of all initialisers, beyond four times the text
inline constexpr unsigned kMaxOperands = 16;
inline constexpr unsigned kMaxVectorElements = 255;
inline constexpr unsigned kMaxUnsupported = 32;  // entries for one function

// A piece of the file as it may stand in a message: in quotes, not too long.
std::string quoted(std::string_view text, std::string_view before = {});

// The bytes that a string with backslashes stands for.
std::string unescaped(std::string_view text);

class Parser {
 public:
  Parser(std::string text, std::string path);
  Result<Module> run();

 private:
  struct Constant {
    uint64_t bits = 0;
    Type float_type = Type::none;  // f32 or f64: bits hold its value; none: an integer
    bool is_unsigned = false;
    Operand operand() const;
    double as_double() const;
  };

  // A label, table of targets or prototype that was used before it stood in the text.
  struct OpenName {
    std::string_view name;
    uint32_t operand = 0;  // in scratch_ while the instruction is read, then in Module::operands
    int32_t targets = -1;  // or: entry `operand` of this table of branch targets
  };

  struct Place {
    uint32_t line = 0, column = 0;
  };

  struct Linkage {
    bool external = false;
  };

  // Errors. All give false.
  bool fail(std::string message, std::string hint = {}) {
    return fail_at(c_.position(), std::move(message), std::move(hint));
  }
  bool fail_at(const char* where, std::string message, std::string hint = {});
  bool fail_expected(std::string_view what);
  void not_supported(std::string message, Place place);

  // Small things.
  bool expect(char c);
  bool name(std::string_view& result);
  bool skip_statement();
  bool skip_parentheses();
  bool string_literal(std::string_view& result);

  // parser.cpp
  bool module_statement();
  bool module_directive();
  bool target_directive();
  bool alias_directive();
  void resolve_aliases();

  // parse_function.cpp
  bool function(bool entry);
  bool parameter_list(std::vector<Param>& params, bool prototype);
  bool parameter(Param& param, bool prototype);
  bool function_directives(Function& function);
  bool dimensions(Dim3& dims);
  bool begin_function(const char* where, Function header, bool body);
  bool declare_parameters(std::vector<Param>& params, Symbol::Kind kind);

  // parse_body.cpp
  bool body();
  bool open_scope();
  bool close_scope();
  bool body_directive();
  bool guard(int32_t& reg, bool& negated);
  bool label_or_instruction();
  bool label(const char* where, std::string_view name);
  bool branch_targets(std::string_view name);
  bool call_targets(std::string_view name);
  bool call_prototype(std::string_view name);
  const Opcode* known_opcode();
  bool instruction(Place place, const char* where, const Opcode& opcode, int32_t guard, bool guard_negated);
  bool operands();
  bool find_form(const Opcode& opcode, uint16_t& row);
  bool call_operands();
  bool call_list(Operand& list);
  bool resolve(const OpenName& open, const Symbol& symbol);
  bool set_target(Operand& operand, const Symbol& symbol) const;

  // parse_operand.cpp
  bool operand(Operand& result);
  bool simple_operand(Operand& result);
  bool named_operand(Operand& result);
  bool address(Operand& result);
  bool address_offset(Operand& result);
  bool vector(Operand& result);
  bool pair(Operand& result);
  bool index_suffix(Operand& result);
  bool is_predicate(uint32_t reg) const { return f_->registers[reg].type == Type::pred; }
  Symbol lookup(std::string_view name);
  uint32_t add_register(std::string_view name, Type type);
  Operand store_elements(Operand::Kind kind, size_t mark);
  bool constant(Constant& result) { return expression(result, 0, 0); }
  bool integer(uint64_t& result, std::string_view what);
  bool expression(Constant& result, int least_precedence, uint32_t depth);
  bool primary(Constant& result, uint32_t depth);
  bool number(Constant& result);

  // The range that a prefix (`%r`) of up to seven characters stands for. A function uses a handful, so the
  // last answers are kept, by hash of the prefix, until a declaration or the end of a block changes what
  // prefixes mean. `key` is the prefix as a word (words.h).
  struct Prefix {
    uint64_t key = 0;
    uint32_t version = 0;
    Symbol symbol;
  };
  const Symbol& find_prefix(uint64_t key, unsigned length);

  // One step for what stands in most places; false, with nothing read, for everything else.
  bool plain_register(uint32_t& reg);
  bool plain_number(uint64_t& value, unsigned ends);

  // parse_variable.cpp
  bool registers();
  bool variable(Space space, Linkage linkage);
  bool type_and_attributes(Variable& variable, uint8_t& width);
  bool declarator(Variable variable, uint8_t width);
  bool initialiser(Variable& variable, const std::vector<uint64_t>& strides, size_t level, uint64_t offset,
                   uint64_t& end);
  bool init_value(Variable& variable, uint64_t offset);
  bool init_address(Variable& variable, uint64_t offset, int mask_shift);
  bool init_string(Variable& variable, uint64_t& end);
  bool put(Variable& variable, uint64_t offset, uint64_t value, unsigned bytes);
  bool alignment(uint32_t& result);

  // parse_debug.cpp
  bool file_directive();
  bool loc_directive();
  bool section();
  bool debug_strings();
  bool skip_section();
  void resolve_location_names();
  int32_t location(const SourceLocation& location, std::string_view label, uint32_t offset);

  Module m_;
  Scanner c_;
  SymbolTable symbols_;
  RangeMembers members_;
  std::array<Prefix, 16> prefixes_ = {};
  OpcodeCache opcodes_;
  const std::vector<Form>& forms_;
  std::optional<Error> error_;

  Function* f_ = nullptr;  // being read
  int32_t f_index_ = -1;
  std::vector<Instruction> instructions_room_;  // of functions that were read
  std::vector<Register> registers_room_;
  bool names_overlap_ranges_ = false;  // a register `%r5` was declared beside a range `%r<10>`
  unsigned unsupported_in_function_ = 0;
  int32_t location_ = -1;
  std::vector<Operand> scratch_;                    // a stack: operands and vector elements being read
  std::vector<OpenName> open_here_;                 // of the instruction being read
  std::vector<OpenName> open_;                      // of the open scopes, innermost last
  std::vector<size_t> scope_open_;                  // where each scope's part of open_ begins
  Op op_ = Op::count;                               // of the instruction being read
  Operand::Kind label_kind_ = Operand::Kind::none;  // what a label stands for in this instruction
  uint64_t init_bytes_ = 0;

  // .loc
  struct LocationKey {
    uint32_t file, line, column;
    int32_t inlined_at;
    const char* label;
    uint32_t offset;
    bool operator==(const LocationKey&) const = default;
  };
  struct LocationHash {
    size_t operator()(const LocationKey& key) const;
  };
  struct PlaceKey {
    uint32_t file, line, column;
    bool operator==(const PlaceKey&) const = default;
  };
  struct PlaceHash {
    size_t operator()(const PlaceKey& key) const {
      return LocationHash()({key.file, key.line, key.column, -1, nullptr, 0});
    }
  };
  struct LocationLabel {
    int32_t location;
    std::string_view label;
    uint32_t offset;
  };
  std::unordered_map<LocationKey, int32_t, LocationHash> locations_;
  std::unordered_map<PlaceKey, int32_t, PlaceHash> last_at_;  // the newest location of a place
  std::unordered_set<std::string_view> label_texts_;
  std::vector<LocationLabel> location_labels_;
  std::string debug_text_;
  std::unordered_map<std::string_view, size_t> debug_labels_;
};

}  // namespace fullwarp::ptx
