// Warps and blocks: who runs next, barriers, rendezvous, and what happens when nobody can go on.
#include <algorithm>
#include <cstring>

#include "exec/scheduling.h"
#include "exec/worker.h"

namespace fullwarp::exec {
namespace {

constexpr int32_t kQuantumBlocks = 4096;  // basic blocks a fragment runs before another gets its turn
constexpr uint32_t kSpinPolls = 128;      // polls in one turn that make it a spin

bool complete(const BlockState& block, const Barrier& barrier) {
  const uint32_t expected = barrier.expected ? barrier.expected : block.threads;
  return barrier.arrived + (barrier.expected ? 0 : block.exited) >= expected;
}

// Lanes that wait at the barrier go on. Threads that never came are reported, once for the block.
void open_barrier(BlockState& block, uint32_t number) {
  Barrier& barrier = block.barriers[number];
  if (!barrier.expected && barrier.arrived < block.threads && !block.barrier_reported) {
    block.barrier_reported = true;
    for (auto& warp : block.warps) {
      auto waiting = std::find_if(warp->waiting.begin(), warp->waiting.end(), [&](const Fragment& f) {
        return f.wait == Stop::waits_barrier && f.barrier == number;
      });
      if (waiting == warp->waiting.end()) continue;
      Frame* frame = warp->frame;
      warp->frame = waiting->frame;
      profile::Fault& fault = report_fault(*warp, waiting->pc, profile::FaultKind::barrier_divergence,
                                           static_cast<unsigned>(std::countr_zero(waiting->mask)));
      fault.detail = std::to_string(block.threads - barrier.arrived) + " of " +
                     std::to_string(block.threads) +
                     " threads of the block ended without reaching this barrier";
      warp->frame = frame;
      break;
    }
  }
  std::vector<uint32_t> members;
  for (auto& warp : block.warps) {
    bool member = false;
    for (size_t k = 0; k < warp->waiting.size();) {
      Fragment& f = warp->waiting[k];
      if (f.wait != Stop::waits_barrier || f.barrier != number) {
        ++k;
        continue;
      }
      member = true;
      Fragment& next = warp->ready.push_back();
      next.set(f.pc, f.mask, f.frame, f.join);
      finish_barrier_op(*warp, next, barrier);
      warp->waiting[k] = warp->waiting.back();
      warp->waiting.pop_back();
    }
    if (member && barrier.expected) members.push_back(warp->index);
  }
  if (barrier.expected)
    block.shadow.barrier_of(members);
  else
    block.shadow.barrier_of_all();
  barrier = Barrier{};
}

void check_barriers(BlockState& block) {
  for (uint32_t number = 0; number < 16; ++number) {
    Barrier& barrier = block.barriers[number];
    if (barrier.arrived != 0 && complete(block, barrier)) open_barrier(block, number);
  }
}

// Runs every rendezvous whose members have all come.
bool check_rendezvous(Warp& w) {
  for (size_t k = 0; k < w.waiting.size(); ++k) {
    const Fragment& f = w.waiting[k];
    if (f.wait != Stop::waits_sync) continue;
    LaneMask together = 0;
    for (const Fragment& g : w.waiting)
      if (g.wait == Stop::waits_sync && g.members == f.members) together |= g.mask;
    const LaneMask members = f.members;
    if ((together & members & w.live) != (members & w.live)) continue;
    std::vector<Fragment> group;
    for (size_t j = 0; j < w.waiting.size();) {
      if (w.waiting[j].wait == Stop::waits_sync && w.waiting[j].members == members) {
        group.push_back(w.waiting[j]);
        w.waiting[j] = w.waiting.back();
        w.waiting.pop_back();
      } else {
        ++j;
      }
    }
    run_together(w, group, together);
    return true;
  }
  return false;
}

// One turn of a warp: its fragments run until each waits, ends, or has used its quantum.
// True if anything was executed.
bool run_warp(Warp& w) {
  bool ran = false;
  size_t turns = w.ready.size() + 64;
  while (turns-- > 0) {
    if (w.ready.empty()) {
      if (check_rendezvous(w)) {
        ran = true;
        continue;
      }
      if (release_joins(w)) continue;
      break;
    }
    const Fragment& f = w.ready.front();
    const MicroOp* op = f.pc;
    w.frame = f.frame;
    w.regs = w.frame->regs;
    w.join = f.join;
    w.set_active(f.mask);
    w.participants = w.active;
    w.ready.pop_front();
    w.budget = kQuantumBlocks;
    w.polls = 0;
    w.stop = Stop::none;
    ran = true;
    do {
      op = op->run[w.masked](w, op);
    } while (op);
    if (w.stop == Stop::yield) {
      w.ready.push_back().set(w.saved, w.active, w.frame, w.join);
      if (w.steps > w.worker->options->step_limit) {
        report_fault(w, w.saved, profile::FaultKind::step_limit,
                     static_cast<unsigned>(std::countr_zero(w.active)));
        end_warp(w);
        break;
      }
      if (w.polls >= kSpinPolls) {
        if (!release_joins(w) && w.ready.size() == 1) break;  // it waits for another warp
      } else if (w.ready.size() == 1) {
        break;
      }
    } else if (w.stop == Stop::exited) {
      check_barriers(*w.block);
    }
  }
  return ran;
}

}  // namespace

void end_warp(Warp& w) {
  w.block->exited += lane_count(w.live);
  w.live = 0;
  w.ready.clear();
  w.waiting.clear();
  w.joins.clear();
  while (!w.frames.empty()) {
    w.free_frames.push_back(std::move(w.frames.back()));
    w.frames.pop_back();
  }
  check_barriers(*w.block);
}

const MicroOp* arrive_at_barrier(Warp& w, const MicroOp* op, uint32_t number, uint32_t threads, bool wait,
                                 LaneMask predicate) {
  BlockState& block = *w.block;
  Barrier& barrier = block.barriers[number & 15];
  const LaneMask lanes = w.exec;
  if (wait && !threads && w.exec != w.live && !block.barrier_reported) {
    // Lanes of this warp that are elsewhere: at another barrier instruction, or past this one.
    bool elsewhere = false;
    for (const Fragment& f : w.waiting)
      if (f.wait == Stop::waits_barrier && f.barrier == number && f.pc != op) elsewhere = true;
    if (elsewhere) {
      block.barrier_reported = true;
      profile::Fault& fault = report_fault(w, op, profile::FaultKind::barrier_divergence,
                                           static_cast<unsigned>(std::countr_zero(lanes)));
      fault.detail = "threads of one warp wait at different barrier instructions";
    }
  }
  // A count of threads is of whole warps: a warp's arrival counts for all its lanes.
  barrier.expected = threads;
  barrier.arrived += threads ? (lanes == w.live ? kWarpSize : lane_count(lanes)) : lane_count(lanes);
  barrier.count += lane_count(lanes & predicate);
  barrier.all = barrier.all && (lanes & ~predicate) == 0;
  barrier.any = barrier.any || (lanes & predicate) != 0;
  if (wait) {
    Fragment& f = w.waiting.emplace_back();
    f.set(op, w.active, w.frame, w.join);
    f.wait = Stop::waits_barrier;
    f.barrier = number & 15;
    w.stop = Stop::waits_barrier;
  }
  if (complete(block, barrier)) open_barrier(block, number & 15);
  return wait ? nullptr : op + 1;
}

const MicroOp* wait_for_members(Warp& w, const MicroOp* op, LaneMask members) {
  Fragment& f = w.waiting.emplace_back();
  f.set(op, w.active, w.frame, w.join);
  f.wait = Stop::waits_sync;
  f.members = members;
  w.stop = Stop::waits_sync;
  return nullptr;
}

void prepare_block(Worker& worker, BlockState& block, uint64_t linear) {
  const Program& program = *worker.program;
  const Dim3 grid = program.grid, shape = program.block;
  block.linear = linear;
  block.index = {static_cast<uint32_t>(linear % grid.x), static_cast<uint32_t>(linear / grid.x % grid.y),
                 static_cast<uint32_t>(linear / grid.x / grid.y)};
  block.threads = static_cast<uint32_t>(shape.count());
  block.exited = 0;
  block.barrier_reported = false;
  for (Barrier& barrier : block.barriers) barrier = Barrier{};
  const uint32_t warps = (block.threads + kWarpSize - 1) / kWarpSize;
  const uint32_t shared_bytes = program.shared_bytes();
  if (!block.shared || block.shared_bytes != shared_bytes) {
    block.shared = allocate_zeroed(shared_bytes);
    block.shared_bytes = shared_bytes;
  } else {
    std::memset(block.shared.get(), 0, shared_bytes);
  }
  if (worker.options->check_races) {
    block.shadow.reset(shared_bytes, warps, program.shared_granule_shift);
    block.shadow.fences = program.fences;
    if (program.ordered) block.shadow.reads_wait = false;  // other blocks in flight change a site's pattern
    if (worker.block_order.active()) worker.block_order.start(static_cast<uint32_t>(linear) + 1);
    if (program.uses_reserved_shared) block.shadow.exempt_from(program.reserved_shared_offset());
  }
  const bool fresh = block.warps.size() != warps;
  if (fresh) block.warps.clear();
  while (block.warps.size() < warps) block.warps.push_back(std::make_unique<Warp>());
  const FunctionProgram* const entry = program.entry;
  for (uint32_t k = 0; k < warps; ++k) {
    Warp& w = *block.warps[k];
    w.worker = &worker;
    w.block = &block;
    w.sites = worker.sites.data();
    w.views = worker.views.data();
    w.view_count = worker.views.size();
    w.watch_stores = worker.watch_stores;
    w.index = k;
    w.first_thread = k * kWarpSize;
    w.block_number = static_cast<uint32_t>(linear) + 1;
    const uint32_t lanes = std::min(kWarpSize, block.threads - k * kWarpSize);
    w.live = lanes == kWarpSize ? kFullMask : (LaneMask{1} << lanes) - 1;
    w.steps = 0;
    w.shared = block.shared.get();
    w.shared_bytes = shared_bytes;
    w.ready.clear();
    w.waiting.clear();
    w.joins.clear();
    while (!w.frames.empty()) {
      w.free_frames.push_back(std::move(w.frames.back()));
      w.frames.pop_back();
    }
    auto row = [&](uint32_t index) {
      return reinterpret_cast<uint32_t*>(w.specials.data() + index * kRow32);
    };
    if (fresh) {
      w.specials.resize(kSpecialRows * kRow32);
      for (unsigned i = 0; i < kWarpSize; ++i) {
        const uint32_t thread = w.first_thread + i;
        row(kTidX)[i] = thread % shape.x;
        row(kTidY)[i] = thread / shape.x % shape.y;
        row(kTidZ)[i] = thread / shape.x / shape.y;
        row(kLaneId)[i] = i;
        row(kMaskEq)[i] = 1u << i;
        row(kMaskLt)[i] = (1u << i) - 1;
        row(kMaskLe)[i] = row(kMaskLt)[i] | 1u << i;
        row(kMaskGe)[i] = ~row(kMaskLt)[i];
        row(kMaskGt)[i] = ~row(kMaskLe)[i];
        row(kWarpId)[i] = k;
      }
    }
    const auto fill = [&](uint32_t index, uint32_t value) {
      if (row(index)[0] != value) std::fill_n(row(index), kWarpSize, value);
    };
    fill(kCtaIdX, block.index.x);
    fill(kCtaIdY, block.index.y);
    fill(kCtaIdZ, block.index.z);
    w.frame = nullptr;
    Frame* frame = push_frame(w, *entry, nullptr, nullptr, w.live);
    if (frame) w.ready.push_back().set(entry->ops.data(), w.live, frame, nullptr);
  }
}

BlockRun run_block_once(Worker& worker, BlockState& block) {
  worker.block = &block;
  bool ran = false;
  bool done = true;
  for (auto& warp : block.warps) {
    if (!warp->done()) ran |= run_warp(*warp);
    done &= warp->done();
  }
  if (done) return BlockRun::finished;
  return ran ? BlockRun::progress : BlockRun::stuck;
}

void end_deadlocked(Worker& worker, BlockState& block) {
  worker.block = &block;
  for (auto& warp : block.warps) {
    if (warp->done() || warp->waiting.empty()) continue;
    const Fragment& f = warp->waiting.front();
    warp->frame = f.frame;
    profile::Fault& fault = report_fault(*warp, f.pc, profile::FaultKind::deadlock,
                                         static_cast<unsigned>(std::countr_zero(f.mask)));
    fault.detail = f.wait == Stop::waits_barrier
                       ? "waits at barrier " + std::to_string(f.barrier) + " for threads that never come"
                       : "waits for lanes of its warp that never come";
    break;
  }
  for (auto& warp : block.warps) end_warp(*warp);
}

}  // namespace fullwarp::exec
