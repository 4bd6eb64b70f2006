// Errors as values. Library code never exits, prints or throws across its boundary: a function that can
// fail on its input returns Result<T>, whose error says where, what is wrong and what to do.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace fullwarp {

// `line` and `column` count from 1; 0 means unknown. `file` may be empty (for example for --launch text).
struct Error {
  std::string message;  // what was observed: lower case, no full stop
  std::string file = {};
  uint32_t line = 0;
  uint32_t column = 0;
  std::string hint = {};  // what to do; may be empty

  // "file:line:column: error: message" and, where there is a hint, "\n  hint: ...".
  std::string to_string() const;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

struct Ok {};
using Status = Result<Ok>;

}  // namespace fullwarp
