// The full checks of global memory: the shadows beside written buffers (race.h), whom an access met, and what
// of it is reported. race.cpp has shared memory.
#include <algorithm>

#include "exec/access.h"
#include "exec/race.h"
#include "exec/worker.h"

namespace fullwarp::exec {

using profile::FaultKind;

void GlobalShadow::make(uint64_t bytes, unsigned shift, bool times, SpareBlocks& spare) {
  give_back(spare);
  granule_shift = shift;
  keeps_times = times;
  line_count = (bytes >> shift) / 32 + 2;
  // An untouched line is all zeros.
  lines = LazyWords<GlobalLine>(spare.take(line_count * sizeof(GlobalLine)));
  cells = LazyWords<GlobalCell>(spare.take(4 * line_count * sizeof(GlobalCell)));
}

void GlobalShadow::give_back(SpareBlocks& spare) {
  // Which lines were visited is not known: large blocks are not worth clearing whole.
  constexpr uint64_t kMostBytes = uint64_t{1} << 22;
  const uint64_t line_bytes = line_count * sizeof(GlobalLine),
                 cell_bytes = 4 * line_count * sizeof(GlobalCell),
                 used_cell_bytes = 4 * uint64_t{lines_with_cells} * sizeof(GlobalCell);
  if (lines && line_bytes <= kMostBytes) spare.give(lines.release(), line_bytes, {{0, line_bytes}});
  if (cells) spare.give(cells.release(), cell_bytes, {{0, used_cell_bytes}});
  *this = GlobalShadow{};
}

GlobalCell* GlobalShadow::cells_of(uint64_t index) {
  GlobalLine& line = lines[index];
  if (line.cells != 0) return cells.get() + 4 * size_t{line.cells - 1};
  line.cells = ++lines_with_cells;
  GlobalCell* const four = cells.get() + 4 * size_t{line.cells - 1};
  for (unsigned c = 0; c < 4; ++c) {
    GlobalCell& cell = four[c];
    cell = GlobalCell{};
    cell.written = static_cast<uint8_t>(line.written >> 8 * c);
    cell.read = static_cast<uint8_t>(line.read >> 8 * c);
    if (!(cell.written | cell.read)) continue;
    cell.block = line.block;
    cell.stamp = line.who >> kWhoBits;
    cell.writer_site = line.writer_site;
    cell.reader_site = line.reader_site;
    for (unsigned g = 0; g < 8; ++g) {
      const uint8_t kind = (cell.written >> g) & 1 ? kWrittenBy : (cell.read >> g) & 1 ? kReadBy : 0;
      if (kind) cell.last |= uint64_t{kind | (line.who & kWhoMask)} << 8 * g;
    }
  }
  return four;
}

void watch_buffer(Worker& k, size_t buffer) {
  k.shadows[buffer].make(k.views[buffer].bytes, k.program->global_granule_shift, k.block_order.active(),
                         k.memory->spare_blocks());
  k.views[buffer].shadow = &k.shadows[buffer];
}

void unexpected_store(Warp& w, size_t buffer) {
  Worker& k = *w.worker;
  if (!k.watch_stores) return;
  if (!k.can_start_over) {  // watched from here on
    watch_buffer(k, buffer);
    return;
  }
  if (k.unexpected[buffer]) return;
  k.unexpected[buffer] = true;
  k.blocks_conflict = true;  // start over, with a shadow beside it
}

namespace {

// What a granule's access met.
struct Meeting {
  enum class Kind : uint8_t { none, block, warp } kind = Kind::none;
  bool written = false;  // the other access
  uint32_t other = 0;    // block number + 1 or kManyBlocks; warp or ~0u
  uint16_t site = kNoSite;
};

GlobalDetail& detail_of(GlobalShadow& shadow, GlobalCell& cell) {
  if (cell.detail == 0) {
    GlobalDetail d;
    for (unsigned g = 0; g < 8; ++g) {
      if ((cell.written >> g) & 1) d.writer[g] = cell.block;
      if ((cell.read >> g) & 1) d.reader[g] = cell.block;
      d.writer_stamp[g] = d.reader_stamp[g] = cell.stamp;
      d.writer_site[g] = cell.writer_site;
      d.reader_site[g] = cell.reader_site;
    }
    shadow.details.push_back(d);
    cell.detail = static_cast<uint32_t>(shadow.details.size());
  }
  return shadow.details[cell.detail - 1];
}

struct Visitor {
  uint32_t block = 0;  // number + 1
  uint32_t stamp = 0;  // of its last barrier
  uint32_t warp = 0;
  uint16_t site = kNoSite;
  bool warps_race = true;       // ... of one block; false where their order is not known
  BlockOrder* order = nullptr;  // where blocks may be ordered
};

// Is what `other` did ordered before what the visitor does? Not so where nothing orders blocks.
bool is_before(const Visitor& v, uint32_t other, uint32_t stamp) {
  if (!v.order) return false;
  return other == kManyBlocks ? v.order->all_before(v.block) : v.order->before(other, stamp, v.block);
}

// Records the access of one granule and says whom it met.
Meeting visit(GlobalShadow& shadow, uint64_t granule, const Visitor& v, bool write) {
  GlobalCell& cell = shadow.cells_of(granule / 32)[granule / 8 % 4];
  const unsigned g = granule % 8;
  const uint8_t bit = static_cast<uint8_t>(1u << g);
  Meeting met;
  if (cell.block != 0 && (cell.block != v.block || v.order)) detail_of(shadow, cell);
  if (cell.block != v.block || cell.stamp != v.stamp) {
    cell.last = 0;
    cell.block = v.block;
    cell.stamp = v.stamp;
  }
  const unsigned shift = 8 * g;
  uint8_t last = static_cast<uint8_t>(cell.last >> shift);
  const uint32_t kind = last & kKindBits;
  const bool mine = (last & (kReadBy - 1)) == v.warp && kind != kReadByMany;
  if (v.warps_race && last && !mine && (write || kind == kWrittenBy))
    met = {Meeting::Kind::warp, kind == kWrittenBy, kind == kReadByMany ? ~0u : last & (kReadBy - 1u),
           kind == kWrittenBy ? cell.writer_site : cell.reader_site};
  if (write)
    last = static_cast<uint8_t>(kWrittenBy | v.warp);
  else if (last == 0 || (kind == kWrittenBy && !mine))
    last = static_cast<uint8_t>(kReadBy | v.warp);
  else if (kind == kReadBy && !mine)
    last = kReadByMany;
  cell.last = (cell.last & ~(uint64_t{0xff} << shift)) | uint64_t{last} << shift;
  if (cell.detail != 0) {
    GlobalDetail& d = shadow.details[cell.detail - 1];
    const bool others_wrote = d.writer[g] != 0 && d.writer[g] != v.block;
    const bool others_read = d.reader[g] != 0 && d.reader[g] != v.block;
    const bool writer_met = others_wrote && !is_before(v, d.writer[g], d.writer_stamp[g]);
    const bool reader_known = others_read && is_before(v, d.reader[g], d.reader_stamp[g]);
    const bool reader_met = write && others_read && !reader_known;
    if (writer_met || reader_met)
      met = {Meeting::Kind::block, writer_met, writer_met ? d.writer[g] : d.reader[g],
             writer_met ? d.writer_site[g] : d.reader_site[g]};
    else if (met.kind == Meeting::Kind::warp)
      met.site = met.written ? d.writer_site[g] : d.reader_site[g];
    if (write) {
      d.writer[g] = v.block;
      d.writer_stamp[g] = v.stamp;
      d.writer_site[g] = v.site;
      if (v.order)
        d.reader[g] = 0;  // what is ordered after this write is ordered after them, or they were reported
    } else {
      d.reader[g] = !others_read || reader_known ? v.block : kManyBlocks;
      d.reader_stamp[g] = v.stamp;
      d.reader_site[g] = v.site;
    }
  }
  if (write) {
    cell.writer_site = cell.written == 0 || cell.writer_site == v.site ? v.site : kNoSite;
    cell.written |= bit;
  } else {
    cell.reader_site = cell.read == 0 || cell.reader_site == v.site ? v.site : kNoSite;
    cell.read |= bit;
  }
  return met;
}

void describe_meeting(Warp& w, profile::Fault& f, const Meeting& met) {
  const Dim3 grid = w.worker->program->grid;
  const char* verb = met.written ? "written" : "read";
  name_other(w, f, met.site);
  if (met.kind == Meeting::Kind::warp) {
    f.other_block = w.block->index;
    f.detail = std::string(verb) + " by " +
               (met.other == ~0u ? "several warps" : "warp " + std::to_string(met.other)) +
               " of the same block with no barrier between";
  } else if (met.other != kManyBlocks) {
    const uint64_t b = met.other - 1;
    f.other_block = {static_cast<uint32_t>(b % grid.x), static_cast<uint32_t>(b / grid.x % grid.y),
                     static_cast<uint32_t>(b / grid.x / grid.y)};
    f.detail = std::string(verb) + " by block (" + std::to_string(f.other_block.x) + ", " +
               std::to_string(f.other_block.y) + ", " + std::to_string(f.other_block.z) +
               ") in the same launch";
  } else {
    f.detail = "read by several other blocks in the same launch";
  }
}

// Have all these bytes a value? Gives them one if `write`.
bool has_values(const Worker& k, uint64_t* written, uint64_t offset, unsigned width, bool write) {
  bool all = true;
  for (uint64_t at = offset; at < offset + width;) {
    const uint64_t shift = at % 64, n = std::min<uint64_t>(64 - shift, offset + width - at);
    const uint64_t bits = (n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1) << shift;
    all &= mark_values(written[at / 64], bits, write, k.atomic_memory);
    at += n;
  }
  return all;
}

// Granules that this shadow's blocks wrote and read in a line.
void sum_up(const GlobalShadow& shadow, uint64_t index, uint32_t& written, uint32_t& read) {
  const GlobalLine& line = shadow.lines[index];
  written = line.written;
  read = line.read;
  if (line.cells == 0) return;
  written = read = 0;
  for (unsigned c = 0; c < 4; ++c) {
    const GlobalCell& cell = shadow.cells[4 * size_t{line.cells - 1} + c];
    uint32_t cell_written = cell.written, cell_read = cell.read;
    if (cell.detail != 0) {
      cell_written = cell_read = 0;
      const GlobalDetail& d = shadow.details[cell.detail - 1];
      for (unsigned g = 0; g < 8; ++g) {
        cell_written |= uint32_t{d.writer[g] != 0} << g;
        cell_read |= uint32_t{d.reader[g] != 0} << g;
      }
    }
    written |= cell_written << 8 * c;
    read |= cell_read << 8 * c;
  }
}

}  // namespace

bool workers_conflict(const std::vector<const GlobalShadow*>& shadows, uint64_t first_line,
                      uint64_t last_line) {
  for (uint64_t l = first_line; l < last_line; ++l) {
    uint32_t written = 0, read = 0;
    for (const GlobalShadow* shadow : shadows) {
      uint32_t own_written, own_read;
      sum_up(*shadow, l, own_written, own_read);
      if ((own_written & (written | read)) | (own_read & written)) return true;
      written |= own_written;
      read |= own_read;
    }
  }
  return false;
}

void check_global_lanes(Warp& w, const MicroOp* op, const LaneTarget* target, LaneMask mask, unsigned width,
                        bool read, bool write, bool atomic, const StoredValues* values) {
  Worker& k = *w.worker;
  const SharedShadow& order = w.block->shadow;
  const bool strong = atomic || (op->flags & kStrong);
  const bool warps_race = order.tells_warps_apart();
  const Visitor visitor{static_cast<uint32_t>(w.block->linear) + 1,
                        order.barrier_stamp,
                        warps_race ? w.index : 0,
                        static_cast<uint16_t>(std::min<uint32_t>(op->site, kNoSite)),
                        warps_race,
                        k.block_order.active() ? &k.block_order : nullptr};
  for (LaneMask left = mask; left; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
    const LaneTarget& t = target[lane];
    const size_t index = static_cast<size_t>(t.buffer);
    const BufferView& view = k.views[index];
    auto fault = [&](FaultKind kind, bool same_value = false) -> profile::Fault& {
      profile::Fault& f = report_fault(w, op, kind, lane, 1, same_value);
      f.space = mem::AccessSpace::global;
      f.access = write ? mem::AccessKind::store : mem::AccessKind::load;
      f.width_bytes = width;
      f.buffer = static_cast<int32_t>(t.buffer);
      f.offset = static_cast<int64_t>(t.offset);
      f.address = DeviceMemory::address_of(index) + t.offset;
      const Buffer& buffer = k.memory->buffer(index);
      f.object = "buffer " + buffer.name + " (" + std::to_string(buffer.bytes) + " bytes)";
      return f;
    };
    if (view.written && !has_values(k, view.written, t.offset, width, write) && read)
      fault(FaultKind::uninitialised);
    if (!view.shadow && write && !strong) unexpected_store(w, index);
    if (!view.shadow || strong) continue;
    const unsigned shift = view.shadow->granule_shift;
    bool reported = false;
    for (uint64_t g = t.offset >> shift; g <= (t.offset + width - 1) >> shift; ++g) {
      const Meeting met = visit(*view.shadow, g, visitor, write);
      if (met.kind == Meeting::Kind::none) continue;
      if (met.kind == Meeting::Kind::block) k.blocks_conflict = true;
      if (reported || (met.kind == Meeting::Kind::block && k.atomic_memory)) continue;
      const bool same_value = values && values->stand_at(t.data, lane);
      describe_meeting(w, fault(FaultKind::global_race, same_value), met);
      reported = true;
    }
  }
}

}  // namespace fullwarp::exec
