// A DWARF line program (versions 2 to 4, as ptxas writes it): which source line an address belongs to.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cubin/elf.h"

namespace fullwarp::cubin {

struct LineRow {
  uint64_t address = 0;
  uint32_t line = 0;
  uint32_t file = 0;
  bool end = false;  // the address is the first one behind the sequence
};

// One run of addresses that begins where a relocation says: at `symbol` plus an offset.
struct LineSequence {
  int32_t symbol = -1;  // index in Elf::symbols, -1: no relocation, the addresses are absolute
  std::vector<LineRow> rows;
};

// Reads as far as the data make sense; garbage gives fewer rows, never more than one per byte.
std::vector<LineSequence> parse_line_program(std::string_view data, std::vector<Rela> relocations);

}  // namespace fullwarp::cubin
