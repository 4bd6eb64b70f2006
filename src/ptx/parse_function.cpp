// Heads of functions: parameters, the directives behind them, and what a declaration and its definition
// share.
#include <algorithm>
#include <set>
#include <utility>

#include "ptx/names.h"
#include "ptx/parser_impl.h"

namespace fullwarp::ptx {

bool Parser::function(bool entry) {
  Function header;
  header.entry = entry;
  c_.skip_space();
  while (c_.peek() == '.') {
    c_.advance();
    std::string_view word = c_.word();
    if (word == "attribute") {
      if (!skip_parentheses()) return false;
    } else if (word == "noreturn") {
      header.no_return = true;
    } else {
      return fail("directive " + quoted(word, ".") + " is not known before a function's name");
    }
    c_.skip_space();
  }
  if (!entry && c_.peek() == '(' && !parameter_list(header.returns, false)) return false;
  c_.skip_space();
  const char* where = c_.position();
  header.line = c_.line();
  if (!name(header.name)) return false;
  c_.skip_space();
  if (c_.peek() == '(' && !parameter_list(header.params, false)) return false;
  if (!function_directives(header)) return false;
  if (c_.peek() == ';' || c_.peek() == '.') {
    c_.accept(';');
    return begin_function(where, std::move(header), false);
  }
  if (c_.peek() != '{') return fail_expected("'{' or ';' after the head of function " + quoted(header.name));
  return begin_function(where, std::move(header), true) && body();
}

bool Parser::parameter_list(std::vector<Param>& params, bool prototype) {
  if (!expect('(')) return false;
  if (c_.accept(')')) return true;
  do {
    Param param;
    if (!parameter(param, prototype)) return false;
    params.push_back(param);
  } while (c_.accept(','));
  return expect(')');
}

bool Parser::parameter(Param& param, bool prototype) {
  c_.skip_space();
  const char* where = c_.position();
  bool in_register = false;
  bool aligned = false;
  uint32_t width = 1;
  while (c_.accept('.')) {
    std::string_view word = c_.word();
    if (word == "param" || word == "hidden") {
    } else if (word == "reg") {
      in_register = true;
    } else if (word == "align") {
      if (!alignment(param.pointer ? param.pointee_align : param.align)) return false;
      aligned = aligned || !param.pointer;
    } else if (word == "ptr") {
      param.pointer = true;
    } else if (word == "global" || word == "const" || word == "local" || word == "shared") {
      param.pointee_space = word == "global"  ? Space::global
                            : word == "const" ? Space::const_
                            : word == "local" ? Space::local
                                              : Space::shared;
    } else if (word == "v2" || word == "v4") {
      width = static_cast<uint32_t>(word[1] - '0');
    } else if (auto type = type_from(word)) {
      param.type = *type;
    } else {
      return fail_at(where, quoted(word, ".") + " is not known in a parameter");
    }
  }
  if (param.type == Type::none) return fail_at(where, "the parameter has no type");
  if (in_register && width > 1) return fail_at(where, "vector registers as parameters are not supported");
  uint32_t element = size_bytes(param.type) * width;
  if (!aligned) param.align = element;
  param.bytes = element;
  if (in_register) param.reg = 0;  // set when the body begins
  c_.skip_space();
  const char* name_at = c_.position();
  if (!name(param.name)) return false;
  if (prototype && param.name != "_" && param.name.empty()) return fail_at(name_at, "expected '_'");
  if (c_.accept('[')) {
    param.array = true;
    uint64_t count = 0;
    c_.skip_space();
    if (c_.peek() != ']' && !integer(count, "the size of the parameter")) return false;
    if (count * element >= kMaxVariableBytes || count >= kMaxVariableBytes)
      return fail_at(name_at, "parameter " + quoted(param.name) + " is larger than 2 GB");
    param.bytes = static_cast<uint32_t>(count * element);
    if (!expect(']')) return false;
  }
  return true;
}

// What stands between the parameters and the body.
bool Parser::function_directives(Function& function) {
  while (true) {
    c_.skip_space();
    if (c_.peek() != '.') return true;
    static const std::set<std::string_view> module_words = {"visible", "extern", "weak",  "func",
                                                            "entry",   "file",   "local", "global",
                                                            "const",   "shared", "reg",   "section"};
    const char* where = c_.position();
    c_.advance();
    std::string_view word = c_.word();
    Dim3 dims;
    uint64_t value = 0;
    if (word == "maxntid") {
      if (!dimensions(dims)) return false;
      function.max_ntid = dims;
    } else if (word == "reqntid") {
      if (!dimensions(dims)) return false;
      function.req_ntid = dims;
    } else if (word == "reqnctapercluster") {
      if (!dimensions(dims)) return false;
      function.cluster = dims;
    } else if (word == "minnctapersm" || word == "maxnctapersm") {
      if (!integer(value, "the number of blocks")) return false;
      function.min_blocks_per_sm = static_cast<uint32_t>(std::min<uint64_t>(value, UINT32_MAX));
    } else if (word == "maxnreg") {
      if (!integer(value, "the number of registers")) return false;
      function.max_registers = static_cast<uint32_t>(std::min<uint64_t>(value, UINT32_MAX));
    } else if (word == "maxclusterrank" || word == "abi_preserve" || word == "abi_preserve_control") {
      if (!integer(value, "a number")) return false;
    } else if (word == "noreturn") {
      function.no_return = true;
    } else if (word == "explicitcluster" || word == "unified" || word == "blocksareclusters") {
    } else if (word == "attribute") {
      if (!skip_parentheses()) return false;
    } else if (word == "pragma") {
      if (!skip_statement()) return false;
    } else if (module_words.count(word) != 0) {
      c_.back_to(where);  // PTX 1: a declaration has no semicolon
      return true;
    } else {
      return fail_at(where, "directive " + quoted(word, ".") + " is not known here");
    }
  }
}

bool Parser::dimensions(Dim3& dims) {
  uint32_t* const out[] = {&dims.x, &dims.y, &dims.z};
  for (int i = 0; i < 3; ++i) {
    uint64_t value;
    if (!integer(value, "a number of threads or blocks")) return false;
    *out[i] = static_cast<uint32_t>(std::min<uint64_t>(value, UINT32_MAX));
    c_.skip_space();
    if (c_.peek() != ',') break;
    if (i < 2) c_.advance();
  }
  return true;
}

// Joins a head with an earlier declaration of the same function, and makes it the current one if a body
// follows.
bool Parser::begin_function(const char* where, Function header, bool body) {
  header.declared_only = !body;
  Symbol known = symbols_.find(header.name);
  if (known.kind == Symbol::Kind::function) {
    f_index_ = static_cast<int32_t>(known.index);
    Function& earlier = m_.functions[known.index];
    if (body && !earlier.declared_only)
      return fail_at(where, "function " + quoted(header.name) + " is defined twice");
    if (earlier.entry != header.entry)
      return fail_at(where, quoted(header.name) + " is declared as a kernel and as a function");
    if (earlier.params.size() != header.params.size() || earlier.returns.size() != header.returns.size())
      return fail_at(where, "function " + quoted(header.name) + " has other parameters than its declaration");
    if (body) {
      header.no_return = header.no_return || earlier.no_return;
      earlier = std::move(header);
    }
  } else if (known.kind != Symbol::Kind::none && known.depth == symbols_.depth()) {
    return fail_at(where, quoted(header.name) + " is already the name of a variable");
  } else {
    f_index_ = static_cast<int32_t>(m_.functions.size());
    Symbol symbol;
    symbol.kind = Symbol::Kind::function;
    symbol.index = static_cast<uint32_t>(f_index_);
    symbols_.declare(header.name, symbol);
    m_.functions.push_back(std::move(header));
  }
  if (!body) {
    f_index_ = -1;
    return true;
  }
  f_ = &m_.functions[static_cast<size_t>(f_index_)];
  f_->instructions.swap(instructions_room_);
  f_->registers.swap(registers_room_);
  f_->instructions.clear();
  f_->registers.clear();
  members_.clear();
  names_overlap_ranges_ = false;
  unsupported_in_function_ = 0;
  location_ = -1;
  return true;
}

bool Parser::declare_parameters(std::vector<Param>& params, Symbol::Kind kind) {
  for (size_t i = 0; i < params.size(); ++i) {
    Param& param = params[i];
    if (param.name == "_") continue;
    Symbol symbol;
    symbol.kind = kind;
    symbol.index = static_cast<uint32_t>(i);
    if (param.reg >= 0) {
      symbol.kind = Symbol::Kind::reg;
      symbol.index = add_register(param.name, param.type);
      param.reg = static_cast<int32_t>(symbol.index);
    }
    if (!symbols_.declare(param.name, symbol))
      return fail_at(param.name.data(), "parameter " + quoted(param.name) + " is declared twice");
  }
  return true;
}

}  // namespace fullwarp::ptx
