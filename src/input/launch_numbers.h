// Scalar arithmetic of launch statements: integers are exact and must stay within 64 bits (signed or
// unsigned), anything with a decimal point is a double. C's rules: division of integers truncates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fullwarp::input::detail {

__extension__ typedef __int128 Int128;  // wide enough for int64_t and uint64_t at once

struct Number {
  bool is_float = false;
  bool single = false;  // written with the suffix f: already rounded to f32
  Int128 integer = 0;
  double real = 0;

  double as_double() const { return is_float ? real : static_cast<double>(integer); }
};

// The value of a literal (`12`, `0xff`, `1'000u`, `2.5f`, `1e-3`), or what is wrong with it in `problem`.
std::optional<Number> parse_literal(std::string_view text, std::string* problem);

// `a op b` for op in + - * / % << >> and the functions min, max, ceil_div; otherwise `problem` says why not.
std::optional<Number> apply(std::string_view op, const Number& a, const Number& b, std::string* problem);
std::optional<Number> negate(const Number& a, std::string* problem);

}  // namespace fullwarp::input::detail
