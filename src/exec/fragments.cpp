// How the lanes of a warp part, wait for each other and meet again.
#include <algorithm>
#include <cstring>

#include "exec/worker.h"

namespace fullwarp::exec {
namespace {

constexpr unsigned kMaxFrames = 4096;           // calls in flight in a warp
constexpr uint64_t kMaxLocalBytes = 512 << 10;  // of a thread: what the hardware allows

void drop_join(Warp& w, size_t index) {
  w.joins[index].swap(w.joins.back());
  w.spare_joins.push_back(std::move(w.joins.back()));
  w.joins.pop_back();
}

void drop_join(Warp& w, const Join* join) {
  for (size_t k = w.joins.size(); k-- > 0;)
    if (w.joins[k].get() == join) return drop_join(w, k);
}

// Lanes `lanes` no longer come to any join at which they have not arrived.
void forget_at_joins(Warp& w, LaneMask lanes) {
  for (size_t k = 0; k < w.joins.size();) {
    Join* join = w.joins[k].get();
    join->expected &= ~lanes;
    if (join->expected == 0) {
      drop_join(w, k);
      k = 0;
      continue;
    }
    if (join->arrived == join->expected) {
      w.ready.push_back().set(join->at, join->arrived, join->frame, join->parent);
      drop_join(w, k);
      k = 0;
      continue;
    }
    ++k;
  }
}

}  // namespace

void part(Warp& w, LaneMask mask, const MicroOp* pc, Join* join) {
  w.ready.push_front().set(pc, mask, w.frame, join);
}

Join* join_at(Warp& w, const MicroOp* at) {
  if (w.join && w.join->at == at && w.join->frame == w.frame) return w.join;
  if (w.spare_joins.empty()) w.spare_joins.push_back(std::make_unique<Join>());
  w.joins.push_back(std::move(w.spare_joins.back()));
  w.spare_joins.pop_back();
  Join* const join = w.joins.back().get();
  join->at = at;
  join->frame = w.frame;
  join->parent = w.join;
  join->expected = w.active;
  join->arrived = 0;
  return join;
}

bool arrive_at_join(Warp& w) {
  Join* join = w.join;
  join->arrived |= w.active;
  if (join->arrived != join->expected) {
    w.stop = Stop::waits_join;
    return false;
  }
  const LaneMask all = join->arrived;
  w.join = join->parent;
  drop_join(w, join);
  w.set_active(all);
  return true;
}

// Lets the lanes that wait at joins go on without the others. True if there were any.
bool release_joins(Warp& w) {
  bool any = false;
  for (size_t k = 0; k < w.joins.size();) {
    Join* join = w.joins[k].get();
    if (join->arrived == 0) {
      ++k;
      continue;
    }
    w.ready.push_back().set(join->at, join->arrived, join->frame, join->parent);
    join->expected &= ~join->arrived;
    join->arrived = 0;
    any = true;
    if (join->expected == 0) {
      drop_join(w, k);
    } else {
      ++k;
    }
  }
  return any;
}

Frame* push_frame(Warp& w, const FunctionProgram& program, Frame* parent, const MicroOp* call,
                  LaneMask lanes) {
  const uint32_t local_base = parent ? parent->local_top : 0;
  if (w.frames.size() >= kMaxFrames || !reserve_local(w, uint64_t{local_base} + program.local_bytes)) {
    report_fault(w, call, profile::FaultKind::stack_overflow, static_cast<unsigned>(std::countr_zero(lanes)));
    exit_lanes(w, lanes);
    return nullptr;
  }
  std::unique_ptr<Frame> frame;
  if (!w.free_frames.empty()) {
    frame = std::move(w.free_frames.back());
    w.free_frames.pop_back();
  } else {
    frame = std::make_unique<Frame>();
  }
  const uint64_t bytes = program.constants.size() + program.frame_bytes;
  if (frame->storage_bytes < bytes) {
    frame->storage = allocate_zeroed(bytes);
    frame->storage_bytes = frame->storage ? bytes : 0;
    frame->program = nullptr;
  }
  frame->regs = frame->storage.get() + program.constants.size();
  if (frame->program != &program) {
    std::copy(program.constants.begin(), program.constants.end(), frame->storage.get());
    std::memset(frame->regs, 0, program.frame_bytes);
  } else if (lanes != kFullMask) {
    std::memset(frame->regs, 0,
                program.frame_bytes);  // lanes that are not there can be asked for their values
  }
  for (const auto& [offset, bytes] : program.cleared) std::memset(frame->regs + offset, 0, bytes);
  frame->program = &program;
  frame->parent = parent;
  frame->call = call;
  frame->lanes = lanes;
  frame->local_base = local_base;
  frame->local_top = local_base + program.local_bytes;
  w.frames.push_back(std::move(frame));
  return w.frames.back().get();
}

void leave_frame(Warp& w, Frame* frame, LaneMask lanes) {
  frame->lanes &= ~lanes;
  if (frame->lanes != 0) return;
  auto it = std::find_if(w.frames.rbegin(), w.frames.rend(), [&](const auto& f) { return f.get() == frame; });
  if (it == w.frames.rend()) return;
  std::swap(*it, w.frames.back());
  w.free_frames.push_back(std::move(w.frames.back()));
  w.frames.pop_back();
}

void exit_lanes(Warp& w, LaneMask lanes) {
  w.live &= ~lanes;
  w.block->exited += lane_count(lanes);
  for (Frame* frame = w.frame; frame;) {
    Frame* parent = frame->parent;
    leave_frame(w, frame, lanes);
    frame = parent;
  }
  forget_at_joins(w, lanes);
  w.stop = Stop::exited;
}

bool reserve_local(Warp& w, uint64_t bytes) {
  if (bytes <= w.local_bytes) return true;
  if (bytes > kMaxLocalBytes) return false;
  uint64_t wanted = std::max<uint64_t>(bytes, w.local_bytes * 2);
  wanted = std::min<uint64_t>((wanted + 63) / 64 * 64, kMaxLocalBytes);
  AlignedBytes grown = allocate_zeroed(wanted * kWarpSize);
  if (!grown) return false;
  if (w.local) std::memcpy(grown.get(), w.local.get(), w.local_bytes * kWarpSize);
  w.local = std::move(grown);
  w.local_bytes = wanted;
  return true;
}

}  // namespace fullwarp::exec
