// Plan, workspace, execution and the table of shapes for preloaded entries; see hook.h.
#include "hook.h"

#include <algorithm>
#include <cstdlib>

#include "../src/arena.h"
#include "../src/plan.h"
#include "table.h"

namespace fullwarp::gemm {

thread_local int Inside::depth = 0;

namespace {

struct State {
  Arenas arenas{hook_device()};
  Settings settings = Settings::from_environment();
  Costs costs = Costs::with_tiles(settings.tile_columns);
  ShapeTable table{std::getenv("FULLWARP_GEMM_TABLE")};
};

// Never destroyed: the program's own exit handlers may still multiply.
State& state() {
  static State* const made = [] {
    State* const s = new State;
    if (s->table.wanted()) std::atexit([] { state().table.write(); });
    return s;
  }();
  return *made;
}

}  // namespace

bool table_wanted() { return state().table.wanted(); }

Piece whole_piece(const Problem& p) {
  const auto part = [](const Matrix& x) { return Piece::Part{x.data, x.ld, x.stride}; };
  return {part(p.a), part(p.b), part(p.c), part(p.d), p.bias, p.m, p.n, p.k, p.batch, 0, 0, false};
}

bool is_misaligned(const Problem& p) {
  uint64_t bits = static_cast<uint64_t>(p.a.ld * p.a.bytes) | static_cast<uint64_t>(p.b.ld * p.b.bytes) |
                  static_cast<uint64_t>(p.d.ld * p.d.bytes) | static_cast<uint64_t>(p.c.ld * p.c.bytes);
  if (!p.a.by_pointers) bits |= p.a.data | p.b.data | p.c.data | p.d.data;
  if (p.batch > 1 && !p.a.by_pointers) {
    bits |= static_cast<uint64_t>(p.a.stride * p.a.bytes) | static_cast<uint64_t>(p.b.stride * p.b.bytes) |
            static_cast<uint64_t>(p.d.stride * p.d.bytes);
  }
  bits |= static_cast<uint64_t>((p.transpose_a ? p.k : p.m) * p.a.bytes) |
          static_cast<uint64_t>((p.transpose_b ? p.n : p.k) * p.b.bytes) |
          static_cast<uint64_t>(p.m * p.d.bytes);
  return bits % kAlignmentBytes != 0;
}

int run_hooked(const Hooked& call) {
  const Problem& p = *call.problem;
  const Inside inside;
  State& s = state();
  const Plan plan =
      make_plan(p, s.costs, s.settings.workspace_bytes, s.settings.mode, hook_device().can_fuse());
  const bool timed = s.table.wanted();
  const Stream stream = plan.choice != Choice::kPlain || timed ? call.stream(call.caller) : nullptr;
  const uint64_t timing = timed ? s.table.begin(hook_device(), stream) : 0;
  bool staged = plan.choice != Choice::kPlain;
  int status = 0;
  if (staged) {
    constexpr size_t kLeast =
        256;  // a fused product may need none, but its kernels are loaded with a workspace
    const Arenas::Lease lease = s.arenas.take(stream, std::max(plan.bytes, kLeast));
    staged = lease.memory != 0;
    if (staged) {
      status = execute(p, plan, lease.memory, hook_device(), stream, call.multiply, call.caller);
      if (status == kCopyFailed) status = call.copy_failed;
    }
  }
  if (!staged) status = call.multiply(call.caller, whole_piece(p));
  if (s.settings.log) {
    s.settings.write_log(describe(p, plan) +
                         (staged || plan.choice == Choice::kPlain ? "" : "; no workspace: done plainly"));
  }
  if (timed) s.table.end(hook_device(), stream, timing, p, plan, staged);
  return status;
}

}  // namespace fullwarp::gemm
