// What is touched of one buffer, sector by sector: which bytes were loaded and stored, which block loaded the
// sector last, and which request came to it last. All of it lies in 16 bytes beside the sector, so that an
// access goes to one place for everything that is counted by address. Pages that no access reaches take no
// memory, and parts that none reached are not looked at in the end (sweep.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/device_memory.h"
#include "exec/spare_blocks.h"
#include "mem/warp_access.h"

namespace fullwarp::exec {

struct alignas(16) SectorUse {
  uint32_t request = 0;  // see gather.h
  uint32_t stored = 0;   // a bit a byte
  uint32_t loader = 0;   // the block (its linear index + 1) of this worker that loaded last
  uint32_t loaded = 0;   // a bit a byte
};

struct Coverage {
  static constexpr uint64_t kPartSectors = 1 << 12;

  LazyWords<SectorUse> sectors;
  std::vector<uint8_t> touched;         // by part of so many sectors: not 0 if any of them was
  bool scattered = false;               // any part may have been touched
  uint64_t load_sectors_of_blocks = 0;  // sectors, counted once for each block that loads them
  uint64_t blocks_loading = 0;
  uint32_t last_block = 0;
  uint64_t loaded_asked = 0, stored_asked = 0;  // bytes

  Coverage() = default;
  Coverage(uint64_t bytes, SpareBlocks& spare)
      : sectors(spare.take(sector_count(bytes) * sizeof(SectorUse))),
        touched(sector_count(bytes) / kPartSectors + 1) {}
  // With a line to spare.
  static uint64_t sector_count(uint64_t bytes) { return bytes / mem::kSectorBytes + 8; }

  // When the launch is over, for the next one. Blocks of which it is not known what was touched are kept only
  // if they are small.
  void give_back(uint64_t bytes, SpareBlocks& spare) {
    constexpr uint64_t kPartBytes = kPartSectors * sizeof(SectorUse), kSmall = uint64_t{1} << 22;
    const uint64_t all = sector_count(bytes) * sizeof(SectorUse);
    if (scattered && all > kSmall) return;
    std::vector<SpareBlocks::Range> dirty;
    for (uint64_t part = 0; part * kPartBytes < all; ++part)
      if (may_be_touched(part)) dirty.push_back({part * kPartBytes, std::min(all, (part + 1) * kPartBytes)});
    spare.give(sectors.release(), all, std::move(dirty));
  }

  void touch(uint64_t offset, uint64_t bytes) {
    constexpr uint64_t kPartBytes = kPartSectors * mem::kSectorBytes;
    for (uint64_t part = offset / kPartBytes; part <= (offset + bytes - 1) / kPartBytes; ++part)
      touched[part] = 1;
  }
  bool may_be_touched(uint64_t part) const { return scattered || touched[part] != 0; }

  // A request of block `me` asks for this many bytes.
  void ask_load(uint32_t me, uint64_t bytes) {
    loaded_asked += bytes;
    if (last_block == me) return;
    last_block = me;
    ++blocks_loading;
  }
  // True if the block had loaded from this sector before.
  bool load_sector(SectorUse& use, uint32_t me) {
    if (use.loader == me) return true;
    use.loader = me;
    ++load_sectors_of_blocks;
    return false;
  }
};

// The bits of bytes from..to (inclusive, in a sector).
inline uint32_t sector_bits(uint64_t from, uint64_t to) {
  return (~uint32_t{0} << from) & (~uint32_t{0} >> (31 - to));
}

// Marks a run of bytes as loaded or stored, and calls `at(use)` for each of its sectors. A bit that is set
// already is not written: a test costs less than a store that the next access waits for.
template <bool kStored, class At>
inline void mark_run(SectorUse* sectors, uint64_t offset, uint64_t bytes, At at) {
  const uint64_t end = offset + bytes - 1, last = end / mem::kSectorBytes;
  for (uint64_t sector = offset / mem::kSectorBytes, from = offset % mem::kSectorBytes; sector <= last;
       ++sector, from = 0) {
    SectorUse& use = sectors[sector];
    const uint32_t bits = sector_bits(from, sector == last ? end % mem::kSectorBytes : mem::kSectorBytes - 1);
    uint32_t& word = kStored ? use.stored : use.loaded;
    if ((word & bits) != bits) word |= bits;
    at(sector, use);
  }
}

}  // namespace fullwarp::exec
