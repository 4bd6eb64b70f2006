#include "ptx/parser.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/huge_pages.h"
#include "ptx/names.h"
#include "ptx/parser_impl.h"

namespace fullwarp::ptx {
std::string quoted(std::string_view text, std::string_view before) {
  constexpr size_t kMost = 200;
  std::string result = "'";
  result.append(before).append(text.substr(0, kMost));
  return result.append(text.size() > kMost ? "...'" : "'");
}

Parser::Parser(std::string text, std::string path)
    : c_({}), members_(kLeastArrayMembers + text.size() / 2), forms_(forms()) {
  m_.text = std::make_shared<const std::string>(std::move(text));
  m_.path = std::move(path);
  c_ = Scanner(*m_.text);
  symbols_.open_scope();  // special registers are outside: a module may use their names
  for (unsigned i = 0; i < static_cast<unsigned>(Special::count); ++i) {
    Symbol symbol;
    symbol.kind = Symbol::Kind::special;
    symbol.index = i;
    symbols_.declare(to_string(static_cast<Special>(i)), symbol);
  }
  symbols_.open_scope();
  m_.operands.reserve(m_.text->size() / 12);
  prefer_huge_pages(m_.operands.data(), m_.operands.capacity() * sizeof(Operand));
}

bool Parser::fail_at(const char* where, std::string message, std::string hint) {
  if (error_) return false;
  const std::string& text = *m_.text;
  std::string_view before(text.data(), static_cast<size_t>(where - text.data()));
  Error error;
  error.message = std::move(message);
  error.file = m_.path;
  error.line = static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  size_t newline = before.rfind('\n');
  error.column =
      static_cast<uint32_t>(before.size() - (newline == std::string_view::npos ? 0 : newline + 1)) + 1;
  error.hint = std::move(hint);
  error_ = std::move(error);
  return false;
}

bool Parser::fail_expected(std::string_view what) {
  c_.skip_space();
  std::string found;
  if (c_.at_end()) {
    found = "the file ends";
  } else {
    const char* start = c_.position();
    std::string_view word = c_.word();
    unsigned char c = static_cast<unsigned char>(*start);
    if (!word.empty()) {
      found = "found " + quoted(word);
    } else if (c >= 0x20 && c < 0x7f) {
      found = "found " + quoted(std::string_view(start, 1));
    } else {
      char text[16];
      std::snprintf(text, sizeof text, "0x%02x", c);
      found = "found a character " + std::string(text);
    }
    return fail_at(start, "expected " + std::string(what) + ", but " + found);
  }
  return fail("expected " + std::string(what) + ", but " + found);
}

void Parser::not_supported(std::string message, Place place) {
  if (++unsupported_in_function_ > kMaxUnsupported) return;
  m_.unsupported.push_back({f_index_, std::move(message), place.line, place.column});
}

bool Parser::expect(char c) {
  if (c_.accept(c)) return true;
  return fail_expected(quoted(std::string_view(&c, 1)));
}

bool Parser::name(std::string_view& result) {
  c_.skip_space();
  if (is(c_.peek(), kDigitChar)) return fail_expected("a name");
  result = c_.word();
  return !result.empty() || fail_expected("a name");
}

bool Parser::skip_statement() {
  int braces = 0;
  while (true) {
    c_.skip_space();
    char c = c_.peek();
    if (c_.at_end()) return fail_expected("';'");
    if (c == '{') ++braces;
    if (c == '}' && --braces < 0) return fail_expected("';'");
    c_.step();
    if (c == ';') return true;
  }
}

// From an opening parenthesis past the one that closes it.
bool Parser::skip_parentheses() {
  if (!expect('(')) return false;
  for (int depth = 1; depth > 0;) {
    c_.skip_space();
    if (c_.at_end()) return fail_expected("')'");
    if (c_.peek() == '(') ++depth;
    if (c_.peek() == ')') --depth;
    c_.step();
  }
  return true;
}

// The text between the quotes, as it stands in the file.
bool Parser::string_literal(std::string_view& result) {
  const char* quote = c_.position();
  if (!expect('"')) return false;
  const char* start = c_.position();
  while (c_.peek() != '"') {
    if (c_.at_end() || c_.peek() == '\n') return fail_at(quote, "the string has no closing quote");
    c_.advance(c_.peek() == '\\' && c_.peek_after() != '\0' && c_.peek_after() != '\n' ? 2 : 1);
  }
  result = {start, static_cast<size_t>(c_.position() - start)};
  c_.advance();
  return true;
}

Result<Module> Parser::run() {
  const std::string& text = *m_.text;
  if (text.starts_with("\xef\xbb\xbf")) c_.advance(3);  // an editor's mark of UTF-8
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    fail_at(text.data(), "this is UTF-16 text, not PTX", "save it as plain text or as UTF-8");
  while (!error_) {
    c_.skip_space();
    if (c_.at_end()) break;
    module_statement();
  }
  if (!error_ && m_.version_major == 0)
    fail_at(m_.text->data(), "this is not PTX: it has no .version directive",
            "PTX begins with `.version 9.0`");
  if (error_) return std::move(*error_);
  resolve_location_names();
  resolve_aliases();
  return std::move(m_);
}

bool Parser::module_statement() {
  if (c_.peek() == ';') {
    c_.advance();
    return true;
  }
  if (c_.peek() == '#') {  // a line marker of the C preprocessor
    c_.skip_line();
    return true;
  }
  if (c_.peek() != '.') return fail_expected("a directive");
  return module_directive();
}

bool Parser::module_directive() {
  Linkage linkage;
  while (true) {
    const char* where = c_.position();
    if (!expect('.')) return false;
    std::string_view word = c_.word();
    if (word == "extern" || word == "common") {
      linkage.external = linkage.external || word == "extern";
    } else if (word == "visible" || word == "weak") {
    } else if (m_.version_major == 0 && word != "version") {
      return fail_at(where, "the first directive is not .version", "PTX begins with `.version 9.0`");
    } else if (word == "entry" || word == "func") {
      return function(word == "entry");
    } else if (word == "global" || word == "tex") {
      return variable(Space::global, linkage);
    } else if (word == "const") {
      return variable(Space::const_, linkage);
    } else if (word == "shared") {
      return variable(Space::shared, linkage);
    } else if (word == "local") {
      return variable(Space::local, linkage);
    } else if (word == "version") {
      Constant version;
      c_.skip_space();
      const char* start = c_.position();
      if (!number(version)) return false;
      std::string_view text(start, static_cast<size_t>(c_.position() - start));
      size_t dot = text.find('.');
      if (version.float_type != Type::f64 || dot == std::string_view::npos || version.as_double() > 99)
        return fail_at(start, "the version is not of the form 9.0");
      for (char c : text.substr(0, dot))
        m_.version_major = m_.version_major * 10 + static_cast<uint32_t>(c - '0');
      for (char c : text.substr(dot + 1, 2))
        if (is(c, kDigitChar)) m_.version_minor = m_.version_minor * 10 + static_cast<uint32_t>(c - '0');
      if (m_.version_major == 0) return fail_at(start, "there is no PTX version 0");
      return true;
    } else if (word == "target") {
      return target_directive();
    } else if (word == "address_size") {
      uint64_t bits;
      c_.skip_space();
      const char* start = c_.position();
      if (!integer(bits, "the address size")) return false;
      if (bits != 32 && bits != 64) return fail_at(start, "the address size is neither 32 nor 64");
      m_.address_bits = static_cast<uint32_t>(bits);
      return true;
    } else if (word == "file") {
      return file_directive();
    } else if (word == "loc") {
      return loc_directive();
    } else if (word == "section") {
      return section();
    } else if (word == "pragma") {
      return skip_statement();
    } else if (word == "alias") {
      return alias_directive();
    } else {
      return fail_at(where, "directive " + quoted(word, ".") + " is not known");
    }
    c_.skip_space();
  }
}

bool Parser::target_directive() {
  bool first = true;
  do {
    std::string_view word;
    c_.skip_space();
    const char* where = c_.position();
    if (!name(word)) return false;
    if (first) {
      m_.target = word;
      size_t digits = word.find('_');
      uint32_t sm = 0;
      if (digits != std::string_view::npos)
        for (size_t i = digits + 1; i < word.size() && is(word[i], kDigitChar) && sm < 1000; ++i)
          sm = sm * 10 + static_cast<uint32_t>(word[i] - '0');
      if (sm == 0) return fail_at(where, "target " + quoted(word) + " is not of the form sm_90");
      m_.sm = sm;
    }
    first = false;
  } while (c_.accept(','));
  return true;
}

bool Parser::alias_directive() {
  std::string_view alias, target;
  c_.skip_space();
  const char* where = c_.position();
  if (!name(alias) || !expect(',')) return false;
  c_.skip_space();
  const char* where_target = c_.position();
  if (!name(target) || !expect(';')) return false;
  Symbol from = symbols_.find(alias), to = symbols_.find(target);
  if (from.kind != Symbol::Kind::function)
    return fail_at(where, quoted(alias) + " is not a declared function");
  if (to.kind != Symbol::Kind::function)
    return fail_at(where_target, quoted(target) + " is not a declared function");
  Function& function = m_.functions[from.index];
  if (!function.declared_only) return fail_at(where, "the alias " + quoted(alias) + " has a body of its own");
  if (m_.functions[to.index].alias_of >= 0 || from.index == to.index)
    return fail_at(where_target, quoted(target) + " is an alias itself");
  function.alias_of = static_cast<int32_t>(to.index);
  return true;
}

void Parser::resolve_aliases() {
  bool any = std::any_of(m_.functions.begin(), m_.functions.end(),
                         [](const Function& function) { return function.alias_of >= 0; });
  if (!any) return;
  auto target = [&](uint32_t index) {
    int32_t alias_of = m_.functions[index].alias_of;
    return alias_of >= 0 ? static_cast<uint32_t>(alias_of) : index;
  };
  for (Operand& operand : m_.operands)
    if (operand.kind == Operand::Kind::function || operand.base == Operand::Kind::function)
      operand.index = target(operand.index);
  for (Variable& variable : m_.variables)
    for (Relocation& relocation : variable.relocations)
      if (relocation.function >= 0)
        relocation.function = static_cast<int32_t>(target(static_cast<uint32_t>(relocation.function)));
}

Result<Module> parse(std::string text, std::string path) {
  return Parser(std::move(text), std::move(path)).run();
}

Result<Module> parse_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return Error{"cannot open the file", path};
  std::string text;
  size_t got = 0;
  // Ordinary files come in one piece; pipes have no size and grow as they come.
  long known_size = std::fseek(file, 0, SEEK_END) == 0 ? std::ftell(file) : 0;
  std::rewind(file);
  size_t piece = known_size > 0 && known_size < (1l << 40) ? static_cast<size_t>(known_size) + 1 : 1 << 16;
  do {
    size_t size = text.size();
    text.resize(size == 0 ? piece : std::max<size_t>(size * 2, size + (1 << 16)));
    got = std::fread(text.data() + size, 1, text.size() - size, file);
    text.resize(size + got);
  } while (got != 0);
  bool failed = std::ferror(file) != 0;
  std::fclose(file);
  if (failed) return Error{"cannot read the file", path};
  return parse(std::move(text), path);
}

}  // namespace fullwarp::ptx
