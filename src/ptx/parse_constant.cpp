// Numbers in all their spellings, and constant expressions: C's operators over 64-bit integers.
#include <bit>
#include <charconv>

#include "ptx/parser_impl.h"

namespace fullwarp::ptx {
namespace {

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

enum class Operator {
  none,
  times,
  over,
  modulo,
  plus,
  minus,
  left,
  right,
  lt,
  le,
  gt,
  ge,
  eq,
  ne,
  and_,
  xor_,
  or_,
  logical_and,
  logical_or,
  choose
};

struct Found {
  Operator op = Operator::none;
  int precedence = -1;
  unsigned length = 0;
};

Found operator_at(char a, char b) {
  switch (a) {
    case '*': return {Operator::times, 10, 1};
    case '/': return {Operator::over, 10, 1};
    case '%': return {Operator::modulo, 10, 1};
    case '+': return {Operator::plus, 9, 1};
    case '-': return {Operator::minus, 9, 1};
    case '<':
      return b == '<'   ? Found{Operator::left, 8, 2}
             : b == '=' ? Found{Operator::le, 7, 2}
                        : Found{Operator::lt, 7, 1};
    case '>':
      return b == '>'   ? Found{Operator::right, 8, 2}
             : b == '=' ? Found{Operator::ge, 7, 2}
                        : Found{Operator::gt, 7, 1};
    case '=': return b == '=' ? Found{Operator::eq, 6, 2} : Found{};
    case '!': return b == '=' ? Found{Operator::ne, 6, 2} : Found{};
    case '&': return b == '&' ? Found{Operator::logical_and, 2, 2} : Found{Operator::and_, 5, 1};
    case '^': return {Operator::xor_, 4, 1};
    case '|': return b == '|' ? Found{Operator::logical_or, 1, 2} : Found{Operator::or_, 3, 1};
    case '?': return {Operator::choose, 0, 1};
    default: return {};
  }
}

}  // namespace

bool Parser::integer(uint64_t& result, std::string_view what) {
  c_.skip_space();
  const char* where = c_.position();
  if (!is(c_.peek(), kDigitChar) && c_.peek() != '(') return fail_expected(what);
  Constant value;
  if (!constant(value)) return false;
  if (value.float_type != Type::none) return fail_at(where, std::string(what) + " is not an integer");
  result = value.bits;
  return true;
}

bool Parser::number(Constant& result) {
  const char* start = c_.position();
  std::string_view word = c_.word();
  if (size_t end = word.find_first_of("%$"); end != std::string_view::npos) {  // `7%4`
    word = word.substr(0, end);
    c_.back_to(start + end);
  }
  result = {};
  // Most are short decimals.
  if (word.size() <= 9 && c_.peek() != '.' && (word[0] != '0' || word.size() == 1)) {
    uint32_t value = 0;
    bool plain = true;
    for (char c : word) {
      plain = plain && is(c, kDigitChar);
      value = value * 10 + static_cast<uint32_t>(c - '0');
    }
    if (plain) {
      result.bits = value;
      return true;
    }
  }
  char kind = word.size() >= 2 && word[0] == '0' ? static_cast<char>(word[1] | 0x20) : '\0';
  if (kind == 'f' || kind == 'd') {
    size_t digits = kind == 'f' ? 8 : 16;
    if (word.size() != digits + 2)
      return fail_at(start, "the constant " + quoted(word) + " does not have " + std::to_string(digits) +
                                " hexadecimal digits");
    for (char c : word.substr(2)) {
      if (digit_value(c) > 15) return fail_at(start, "the constant " + quoted(word) + " is not hexadecimal");
      result.bits = result.bits << 4 | static_cast<unsigned>(digit_value(c));
    }
    result.float_type = kind == 'f' ? Type::f32 : Type::f64;
    return true;
  }
  bool exponent = kind != 'x' && word.find_first_of("eE") != std::string_view::npos;
  if (c_.peek() == '.' || exponent) {
    // Up to the end of fraction and exponent, by hand: a sign belongs to it only after an e.
    while (is(c_.peek(), kOpcodeChar) ||
           ((c_.peek() == '+' || c_.peek() == '-') && (c_.position()[-1] | 0x20) == 'e'))
      c_.advance();
    double value = 0;
    auto [end, problem] = std::from_chars(start, c_.position(), value);
    if (end != c_.position() || (problem != std::errc() && problem != std::errc::result_out_of_range))
      return fail_at(start, "the number " +
                                quoted(std::string_view(start, static_cast<size_t>(c_.position() - start))) +
                                " is not well formed");
    result.bits = std::bit_cast<uint64_t>(value);
    result.float_type = Type::f64;
    return true;
  }
  std::string_view digits = word;
  if (digits.ends_with('U') || digits.ends_with('u')) {
    result.is_unsigned = true;
    digits.remove_suffix(1);
  }
  unsigned base = 10;
  if (kind == 'x' || kind == 'b') {
    base = kind == 'x' ? 16 : 2;
    digits.remove_prefix(2);
  } else if (digits.size() > 1 && digits[0] == '0') {
    base = 8;
  }
  if (digits.empty()) return fail_at(start, "the number " + quoted(word) + " has no digits");
  for (char c : digits) {
    unsigned digit = static_cast<unsigned>(digit_value(c));
    if (digit >= base) return fail_at(start, "the number " + quoted(word) + " is not well formed");
    if (result.bits > (UINT64_MAX - digit) / base)
      return fail_at(start, "the number " + quoted(word) + " does not fit in 64 bits");
    result.bits = result.bits * base + digit;
  }
  if (result.bits > INT64_MAX) result.is_unsigned = true;
  return true;
}

bool Parser::primary(Constant& result, uint32_t depth) {
  if (depth > kMaxExpressionDepth) return fail("the expression is nested too deeply");
  c_.skip_space();
  const char* where = c_.position();
  char c = c_.peek();
  if (is(c, kDigitChar) || (c == '.' && is(c_.peek_after(), kDigitChar))) return number(result);
  if (c == '(') {
    c_.advance();
    c_.skip_space();
    if (c_.peek() == '.') {  // a cast, (.s64)x
      c_.advance();
      std::string_view type = c_.word();
      if (type != "s64" && type != "u64")
        return fail_at(where, "a constant can be cast to .s64 and .u64 only");
      if (!expect(')') || !primary(result, depth + 1)) return false;
      result.is_unsigned = type == "u64";
      return true;
    }
    return expression(result, 0, depth + 1) && expect(')');
  }
  if (c == '-' || c == '+' || c == '~' || c == '!') {
    c_.advance();
    if (!primary(result, depth + 1)) return false;
    if (result.float_type != Type::none) {
      if (c == '-') result.bits ^= result.float_type == Type::f32 ? uint64_t{1} << 31 : uint64_t{1} << 63;
      if (c == '-' || c == '+') return true;
      return fail_at(where, "this operator needs an integer");
    }
    if (c == '-') result.bits = 0 - result.bits;
    if (c == '~') result.bits = ~result.bits;
    if (c == '!') result.bits = result.bits == 0;
    return true;
  }
  if (c == 'W') {
    std::string_view word = c_.word();
    if (word == "WARP_SZ") {
      result = {};
      result.bits = kWarpSize;
      return true;
    }
    return fail_at(where, quoted(word) + " is not a constant");
  }
  return fail_expected("a constant");
}

// Operators of at least this precedence; 5 and above leaves `|` alone, 9 and above leaves comparisons.
bool Parser::expression(Constant& result, int least_precedence, uint32_t depth) {
  if (!primary(result, depth)) return false;
  while (true) {
    c_.skip_space();
    if (is(c_.peek(), kEndChar)) return true;
    Found found = operator_at(c_.peek(), c_.peek_after());
    if (found.op == Operator::none || found.precedence < least_precedence) return true;
    const char* where = c_.position();
    c_.advance(found.length);
    Constant right;
    if (found.op == Operator::choose) {
      Constant otherwise;
      if (!expression(right, 0, depth + 1) || !expect(':') || !expression(otherwise, 0, depth + 1))
        return false;
      result = result.bits != 0 ? right : otherwise;
      continue;
    }
    if (!expression(right, found.precedence + 1, depth + 1)) return false;
    if (result.float_type != Type::none || right.float_type != Type::none)
      return fail_at(where, "this operator needs integers");
    bool is_unsigned = result.is_unsigned || right.is_unsigned;
    uint64_t a = result.bits, b = right.bits;
    int64_t sa = static_cast<int64_t>(a), sb = static_cast<int64_t>(b);
    switch (found.op) {
      case Operator::times: a *= b; break;
      case Operator::over:
      case Operator::modulo: {
        if (b == 0) return fail_at(where, "division by zero in a constant");
        bool divide = found.op == Operator::over;
        if (is_unsigned) {
          a = divide ? a / b : a % b;
        } else if (sb == -1) {  // INT64_MIN / -1 wraps
          a = divide ? 0 - a : 0;
        } else {
          a = static_cast<uint64_t>(divide ? sa / sb : sa % sb);
        }
        break;
      }
      case Operator::plus: a += b; break;
      case Operator::minus: a -= b; break;
      case Operator::left: a = b < 64 ? a << b : 0; break;
      case Operator::right:
        a = result.is_unsigned ? (b < 64 ? a >> b : 0) : static_cast<uint64_t>(sa >> (b < 64 ? b : 63));
        is_unsigned = result.is_unsigned;
        break;
      case Operator::lt: a = is_unsigned ? a < b : sa < sb; break;
      case Operator::le: a = is_unsigned ? a <= b : sa <= sb; break;
      case Operator::gt: a = is_unsigned ? a > b : sa > sb; break;
      case Operator::ge: a = is_unsigned ? a >= b : sa >= sb; break;
      case Operator::eq: a = a == b; break;
      case Operator::ne: a = a != b; break;
      case Operator::and_: a &= b; break;
      case Operator::xor_: a ^= b; break;
      case Operator::or_: a |= b; break;
      case Operator::logical_and: a = a != 0 && b != 0; break;
      case Operator::logical_or: a = a != 0 || b != 0; break;
      default: break;
    }
    result = {};
    result.bits = a;
    result.is_unsigned = is_unsigned;
  }
}

}  // namespace fullwarp::ptx
