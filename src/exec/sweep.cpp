// See sweep.h.
#include "exec/sweep.h"

#include <hwy/highway.h>

#include <algorithm>
#include <utility>

namespace fullwarp::exec {

namespace {

struct Bytes {
  uint64_t loaded = 0, stored = 0;
};

// Bytes of a range of sectors that any worker has touched.
Bytes count_touched(const std::vector<const SectorUse*>& uses, uint64_t first, uint64_t last) {
  // A sector's four words are a vector; the bits of all four are counted, and two of the counts wanted.
  namespace hn = hwy::HWY_NAMESPACE;
  static_assert(sizeof(SectorUse) == 16 && offsetof(SectorUse, stored) == 4 &&
                offsetof(SectorUse, loaded) == 12);
  const hn::FixedTag<uint32_t, 4> d;
  const auto ones = hn::Set(d, 0x55555555u), twos = hn::Set(d, 0x33333333u), fours = hn::Set(d, 0x0f0f0f0fu);
  const auto low_bytes = hn::Set(d, 0x00ff00ffu), low_half = hn::Set(d, 0xffffu);
  uint64_t sum[4] = {};
  while (first < last) {
    auto counts = hn::Zero(d);  // by byte, at most 8 a sector
    const uint64_t end = std::min(last, first + 31);
    for (; first < end; ++first) {
      auto bits = hn::Load(d, &uses[0][first].request);
      for (size_t u = 1; u < uses.size(); ++u) bits = hn::Or(bits, hn::Load(d, &uses[u][first].request));
      bits = hn::Sub(bits, hn::And(hn::ShiftRight<1>(bits), ones));
      bits = hn::Add(hn::And(bits, twos), hn::And(hn::ShiftRight<2>(bits), twos));
      counts = hn::Add(counts, hn::And(hn::Add(bits, hn::ShiftRight<4>(bits)), fours));
    }
    counts = hn::Add(hn::And(counts, low_bytes), hn::And(hn::ShiftRight<8>(counts), low_bytes));
    counts = hn::Add(hn::And(counts, low_half), hn::ShiftRight<16>(counts));
    alignas(16) uint32_t part[4];
    hn::Store(counts, d, part);
    for (unsigned k = 0; k < 4; ++k) sum[k] += part[k];
  }
  return {sum[3], sum[1]};
}

}  // namespace

void Sweep::add(Job job) {
  job.pieces = (job.count + kPiece - 1) / kPiece;
  pieces_ += job.pieces;
  jobs_.push_back(std::move(job));
}

void Sweep::prepare() {
  touched_ = std::vector<Touched>(memory_.size());
  for (size_t b = 0; b < memory_.size(); ++b) {
    Job touch{b, {}, {}, 0, Coverage::sector_count(memory_.buffer(b).bytes)};
    Job meet{b, {}, {}, 0, 0};
    for (const auto& worker : workers_) {
      const Coverage& c = worker->coverage[b];
      if (c.loaded_asked || c.stored_asked) touch.uses.push_back(&c);
      if (!worker->shadows[b]) continue;
      meet.shadows.push_back(&worker->shadows[b]);
      meet.count = worker->shadows[b].line_count;
    }
    if (!touch.uses.empty()) add(std::move(touch));
    if (meet.shadows.size() > 1) add(std::move(meet));
  }
}

void Sweep::take_part() {
  uint64_t before = 0;  // pieces of the jobs before `job`
  size_t job = 0;
  for (uint64_t piece; (piece = next_.fetch_add(1, std::memory_order_relaxed)) < pieces_;) {
    while (piece >= before + jobs_[job].pieces) before += jobs_[job++].pieces;
    const uint64_t first = (piece - before) * kPiece;
    do_piece(jobs_[job], first, std::min(first + kPiece, jobs_[job].count));
  }
}

void Sweep::do_piece(const Job& job, uint64_t first, uint64_t last) {
  if (job.uses.empty()) {
    if (workers_conflict(job.shadows, first, last)) met_ = true;
    return;
  }
  std::vector<const SectorUse*> uses;
  for (const Coverage* use : job.uses)
    if (use->may_be_touched(first / kPiece)) uses.push_back(use->sectors.get());
  if (uses.empty()) return;
  const Bytes here = count_touched(uses, first, last);
  touched_[job.buffer].loaded += here.loaded;
  touched_[job.buffer].stored += here.stored;
}

}  // namespace fullwarp::exec
