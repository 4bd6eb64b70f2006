// A view of a 64-bit little-endian ELF file: sections, symbols, relocations. Nothing is copied; all offsets
// are checked before use, so that any bytes at all may be given.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fullwarp::cubin {

inline constexpr uint16_t kMachineCuda = 190;  // e_machine of a cubin

struct Section {
  std::string_view name;
  uint32_t type = 0, link = 0, info = 0;
  uint64_t flags = 0, size = 0, entry_size = 0;
  std::string_view data;  // empty for NOBITS
};

struct Symbol {
  std::string_view name;
  uint8_t type = 0;  // 2: function, 3: section
  uint16_t section = 0;
  uint64_t value = 0, size = 0;
};

struct Rela {
  uint64_t offset = 0;
  uint32_t type = 0, symbol = 0;
  int64_t addend = 0;
};

struct Elf {
  uint8_t abi_version = 0;
  uint16_t machine = 0;
  uint32_t flags = 0;
  std::vector<Section> sections;
  std::vector<Symbol> symbols;

  const Section* find(std::string_view name) const;                       // nullptr if there is none
  std::vector<Rela> relocations_of(std::string_view section_name) const;  // from `.rela` or `.rel` + name
};

bool looks_like_elf(std::string_view bytes);
Result<Elf> parse_elf(std::string_view bytes, const std::string& file);

}  // namespace fullwarp::cubin
