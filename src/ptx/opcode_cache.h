// A file uses few distinct instructions (`ld.global.f32`) many times. Each is taken apart and compared with
// the table once; after that an instruction costs one hash.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/module.h"
#include "ptx/words.h"

namespace fullwarp::ptx {

// What no list of operands has (Parser::find_form).
inline constexpr uint64_t kNoKinds = UINT64_MAX;

struct Opcode {
  std::string_view text;
  Op op = Op::count;
  uint8_t mod_count = 0;
  uint8_t type_count = 0;
  std::array<Mod, 12> mods = {};  // in the order of the pattern
  std::array<Type, 6> types = {};
  std::vector<uint16_t> forms;  // rows whose pattern it matches; empty: not supported
  std::string problem;          // then says why
  // The row that operands of these kinds took the last time (Parser::find_form).
  mutable uint64_t last_kinds = kNoKinds;
  mutable uint16_t last_form = 0;
};

class OpcodeCache {
 public:
  OpcodeCache() : slots_(512) {}
  // The reference stays valid until the next call of this function.
  const Opcode& find(std::string_view text);

  // The same for an instruction that was found before, from the next characters as they stand; null if they
  // are anything else.
  const Opcode* find_again(const ShortText& text) const {
    const Short& known = short_[text.hash() % kShort];
    return known.text == text && known.id != 0 ? &opcodes_[known.id - 1] : nullptr;
  }

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t id = 0;  // 0 is free
  };
  static constexpr size_t kShort = 512;
  struct Short {
    ShortText text;
    uint32_t id = 0;  // 0 is free
  };
  const Opcode& insert(size_t at, std::string_view text, uint32_t hash);
  void remember(std::string_view text, uint32_t id);

  std::vector<Slot> slots_;
  std::vector<Opcode> opcodes_;
  std::array<Short, kShort> short_ = {};  // those met last, by hash
};

}  // namespace fullwarp::ptx
