// A file uses few distinct instructions (`ld.global.f32`) many times. Each is taken apart and compared with
// the table once; after that an instruction costs one hash.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/module.h"

namespace fullwarp::ptx {

struct Opcode {
  std::string_view text;
  Op op = Op::count;
  uint8_t mod_count = 0;
  uint8_t type_count = 0;
  std::array<Mod, 12> mods = {};  // in the order of the pattern
  std::array<Type, 6> types = {};
  std::vector<uint16_t> forms;  // rows whose pattern it matches; empty: not supported
  std::string problem;          // then says why
};

class OpcodeCache {
 public:
  OpcodeCache() : slots_(512) {}
  // The reference stays valid until the next call.
  const Opcode& find(std::string_view text);

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t id = 0;  // 0 is free
  };
  const Opcode& insert(size_t at, std::string_view text, uint32_t hash);

  std::vector<Slot> slots_;
  std::vector<Opcode> opcodes_;
};

}  // namespace fullwarp::ptx
