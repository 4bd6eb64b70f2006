#include "input/launch_numbers.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "input/launch_lexer.h"

namespace fullwarp::input::detail {
namespace {

constexpr Int128 kLeast = std::numeric_limits<int64_t>::min();
constexpr Int128 kMost = std::numeric_limits<uint64_t>::max();

Number integer(Int128 value) {
  Number n;
  n.integer = value;
  return n;
}

Number real(double value, bool single) {
  Number n;
  n.is_float = true;
  n.single = single;
  n.real = single ? static_cast<double>(static_cast<float>(value)) : value;
  return n;
}

std::optional<Number> checked(Int128 value, std::string* problem) {
  if (value < kLeast || value > kMost) {
    *problem = "the value does not fit in 64 bits";
    return std::nullopt;
  }
  return integer(value);
}

std::optional<Number> apply_integer(std::string_view op, Int128 a, Int128 b, std::string* problem) {
  if (op == "+") return checked(a + b, problem);
  if (op == "-") return checked(a - b, problem);
  if (op == "min") return integer(a < b ? a : b);
  if (op == "max") return integer(a > b ? a : b);
  if (op == "*") {
    Int128 product = 0;
    if (__builtin_mul_overflow(a, b, &product)) product = kMost + 1;
    return checked(product, problem);
  }
  if (op == "/" || op == "%" || op == "ceil_div") {
    if (b == 0) {
      *problem = op == "%" ? "remainder by zero" : "division by zero";
      return std::nullopt;
    }
    if (op == "%") return integer(a % b);
    const bool round_up = op == "ceil_div" && a % b != 0 && (a < 0) == (b < 0);
    return checked(a / b + (round_up ? 1 : 0), problem);
  }
  if (b < 0 || b > 63) {
    *problem = "a shift must be by 0 to 63";
    return std::nullopt;
  }
  if (op == ">>") return integer(a >> static_cast<unsigned>(b));
  Int128 product = 0;
  if (__builtin_mul_overflow(a, Int128{1} << static_cast<unsigned>(b), &product)) product = kMost + 1;
  return checked(product, problem);
}

}  // namespace

std::optional<Number> parse_literal(std::string_view text, std::string* problem) {
  std::string digits;  // without C++'s digit separators
  for (char c : text) {
    if (c != '\'') digits += c;
  }
  const bool hex = digits.size() > 2 && digits[0] == '0' && (digits[1] | 0x20) == 'x';
  const bool binary = digits.size() > 2 && digits[0] == '0' && (digits[1] | 0x20) == 'b';
  const bool floating = !hex && !binary && digits.find_first_of(".eEfF") != std::string::npos;
  const char* end = digits.data() + digits.size();
  if (floating) {
    double value = 0;
    const auto [rest, code] = std::from_chars(digits.data(), end, value);
    const std::string_view suffix(rest, static_cast<size_t>(end - rest));
    if (code == std::errc::result_out_of_range) {
      *problem = quoted(text) + " is out of the range of a double";
      return std::nullopt;
    }
    if (code == std::errc() && (suffix.empty() || suffix == "f" || suffix == "F")) {
      return real(value, !suffix.empty());
    }
  } else {
    uint64_t value = 0;
    const char* begin = digits.data() + (hex || binary ? 2 : 0);
    const auto [rest, code] = std::from_chars(begin, end, value, hex ? 16 : binary ? 2 : 10);
    std::string suffix(rest, static_cast<size_t>(end - rest));
    for (char& c : suffix) c = static_cast<char>(c | 0x20);
    if (code == std::errc::result_out_of_range) {
      *problem = quoted(text) + " does not fit in 64 bits";
      return std::nullopt;
    }
    if (code == std::errc() && (suffix.empty() || suffix == "u" || suffix == "l" || suffix == "ul" ||
                                suffix == "lu" || suffix == "ll" || suffix == "ull" || suffix == "llu")) {
      return integer(value);
    }
  }
  *problem = quoted(text) + " is not a number";
  return std::nullopt;
}

std::optional<Number> apply(std::string_view op, const Number& a, const Number& b, std::string* problem) {
  if (!a.is_float && !b.is_float) return apply_integer(op, a.integer, b.integer, problem);
  const double x = a.as_double(), y = b.as_double();
  const bool single = (a.single || !a.is_float) && (b.single || !b.is_float);
  if (op == "+") return real(x + y, single);
  if (op == "-") return real(x - y, single);
  if (op == "*") return real(x * y, single);
  if (op == "/") return real(x / y, single);
  if (op == "min") return real(std::fmin(x, y), single);
  if (op == "max") return real(std::fmax(x, y), single);
  *problem = quoted(op) + " needs whole numbers";
  return std::nullopt;
}

std::optional<Number> negate(const Number& a, std::string* problem) {
  if (a.is_float) return real(-a.real, a.single);
  return checked(-a.integer, problem);
}

}  // namespace fullwarp::input::detail
