// Addresses that move through loops, part under guards and branches, part in several buffers: whatever the
// engine remembers of earlier accesses (patterns, tags, stamps), results and counts are those of a plain
// simulation.
#include <cstdint>
#include <random>
#include <set>
#include <tuple>

#include "run_ptx.h"

namespace fullwarp::exec::test {
namespace {

using mem::AccessKind;
using mem::AccessSpace;
using profile::KernelProfile;

constexpr unsigned kThreads = 64, kBlocks = 3, kIterations = 6, kSharedBytes = 16384;

uint32_t value_at(uint64_t index) { return static_cast<uint32_t>(index) * 2654435761u + 12345; }

std::vector<uint32_t> numbers(size_t count) {
  std::vector<uint32_t> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = value_at(i);
  return values;
}

// A step of the loop's body. Pointers are %p and %p2 (global) and %s (shared); %o is an offset, at first the
// same in all lanes.
struct Step {
  enum Kind {
    add,
    add_under_guard,
    add_in_branch,
    add_by_lane,
    copy,
    copy_back,
    shared_add,
    shared_add_under_guard,
    offset_add,
    offset_add_under_guard,
    copy_plus_offset,
    copy_minus_offset,
    load,
    load_copy,
    load_four,
    load_shared,
    kinds
  };
  Kind kind;
  int amount;    // bytes, a multiple of 16; of a load the offset in the instruction
  unsigned bit;  // of the lane, for conditions
};

struct Thread {
  int64_t p, p2, s, o = 0;
  uint32_t sum = 0;
};

bool condition(const Step& step, unsigned thread, unsigned iteration) {
  return ((thread >> step.bit ^ iteration) & 1) != 0;
}

// The loop in PTX; %i counts the iterations, %sum takes in what is loaded.
std::string text_of(const std::vector<Step>& steps) {
  std::string text;
  unsigned labels = 0;
  for (const Step& step : steps) {
    const std::string amount = std::to_string(step.amount);
    const std::string test = "shr.u32 %t, %thr, " + std::to_string(step.bit) +
                             "; xor.b32 %t, %t, %i; and.b32 %t, %t, 1; setp.ne.u32 %q, %t, 0;\n";
    const auto take = [](const std::string& reg) { return "mad.lo.u32 %sum, %sum, 31, " + reg + ";\n"; };
    switch (step.kind) {
      case Step::add: text += "add.s64 %p, %p, " + amount + ";\n"; break;
      case Step::add_under_guard: text += test + "@%q add.s64 %p, %p, " + amount + ";\n"; break;
      case Step::add_in_branch: {
        const std::string label = "SKIP" + std::to_string(labels++);
        text += test + "@!%q bra " + label + ";\nadd.s64 %p, %p, " + amount + ";\n" + label + ":\n";
        break;
      }
      case Step::add_by_lane:
        text += "and.b32 %t, %thr, 3; mul.wide.u32 %w, %t, " + std::to_string(std::abs(step.amount)) +
                "; add.s64 %p, %p, %w;\n";
        break;
      case Step::copy: text += "mov.u64 %p2, %p;\n"; break;
      case Step::copy_back: text += "add.s64 %p, %p2, " + amount + ";\n"; break;
      case Step::shared_add: text += "add.s32 %s, %s, " + amount + ";\n"; break;
      case Step::shared_add_under_guard: text += test + "@%q add.s32 %s, %s, " + amount + ";\n"; break;
      case Step::offset_add: text += "add.s64 %o, %o, " + amount + ";\n"; break;
      case Step::offset_add_under_guard: text += test + "@%q add.s64 %o, %o, " + amount + ";\n"; break;
      case Step::copy_plus_offset: text += "add.s64 %p2, %p, %o;\n"; break;
      case Step::copy_minus_offset: text += "sub.s64 %p2, %p, %o;\n"; break;
      case Step::load: text += "ld.global.u32 %v, [%p+" + amount + "];\n" + take("%v"); break;
      case Step::load_copy: text += "ld.global.u32 %v, [%p2];\n" + take("%v"); break;
      case Step::load_four:
        text += "ld.global.v4.u32 {%v, %v1, %v2, %v3}, [%p+" + amount + "];\n" + take("%v") + take("%v1") +
                take("%v2") + take("%v3");
        break;
      case Step::load_shared: text += "ld.shared.u32 %v, [%s+" + amount + "];\n" + take("%v"); break;
      case Step::kinds: break;
    }
  }
  return text;
}

struct Expected {
  std::vector<uint32_t> sums;
  uint64_t requests = 0, sectors = 0;
  std::set<uint64_t> bytes;
};

Expected simulate(const std::vector<Step>& steps, int64_t start, unsigned stride) {
  Expected e;
  e.sums.resize(kBlocks * kThreads);
  for (unsigned warp = 0; warp < kBlocks * kThreads / 32; ++warp) {
    std::vector<Thread> lanes(32);
    const unsigned first = warp % 2 * 32;
    for (unsigned i = 0; i < 32; ++i)
      lanes[i] = {start + stride * (first + i), start + stride * (first + i), 8192 + 4 * (first + i)};
    for (unsigned iteration = 0; iteration < kIterations; ++iteration) {
      for (const Step& step : steps) {
        std::set<uint64_t> sectors;
        for (unsigned i = 0; i < 32; ++i) {
          Thread& t = lanes[i];
          const unsigned thread = first + i;
          const auto load = [&](int64_t at, unsigned words) {
            for (unsigned k = 0; k < words; ++k)
              t.sum = t.sum * 31 + value_at(static_cast<uint64_t>(at) / 4 + k);
            sectors.insert(static_cast<uint64_t>(at) / 32);
            for (unsigned k = 0; k < 4 * words; ++k) e.bytes.insert(static_cast<uint64_t>(at) + k);
          };
          switch (step.kind) {
            case Step::add: t.p += step.amount; break;
            case Step::add_under_guard:
            case Step::add_in_branch: t.p += condition(step, thread, iteration) ? step.amount : 0; break;
            case Step::add_by_lane: t.p += (thread & 3) * std::abs(step.amount); break;
            case Step::copy: t.p2 = t.p; break;
            case Step::copy_back: t.p = t.p2 + step.amount; break;
            case Step::shared_add: t.s += step.amount; break;
            case Step::shared_add_under_guard:
              t.s += condition(step, thread, iteration) ? step.amount : 0;
              break;
            case Step::offset_add: t.o += step.amount; break;
            case Step::offset_add_under_guard:
              t.o += condition(step, thread, iteration) ? step.amount : 0;
              break;
            case Step::copy_plus_offset: t.p2 = t.p + t.o; break;
            case Step::copy_minus_offset: t.p2 = t.p - t.o; break;
            case Step::load: load(t.p + step.amount, 1); break;
            case Step::load_copy: load(t.p2, 1); break;
            case Step::load_four: load(t.p + step.amount, 4); break;
            case Step::load_shared:
              t.sum = t.sum * 31 + value_at(static_cast<uint64_t>(t.s + step.amount) / 4);
              break;
            case Step::kinds: break;
          }
        }
        e.requests += !sectors.empty();
        e.sectors += sectors.size();
      }
    }
    for (unsigned i = 0; i < 32; ++i) e.sums[32 * warp + i] = lanes[i].sum;
  }
  return e;
}

constexpr const char* kBegin = R"(
.reg .pred %q; .reg .b32 %thr, %t, %i, %v, %v1, %v2, %v3, %sum, %s, %at, %blk; .reg .b64 %p, %p2, %w, %o, %out;
.shared .align 16 .b8 words[16384];
mov.u32 %thr, %tid.x; mov.u32 %blk, %ctaid.x;
mov.u32 %at, words;
mov.u32 %i, %thr;
FILL:
mad.lo.u32 %v, %i, 2654435761, 12345;
shl.b32 %t, %i, 2; add.u32 %t, %t, %at; st.shared.u32 [%t], %v;
add.u32 %i, %i, 64; setp.lt.u32 %q, %i, 4096;
@%q bra FILL;
bar.sync 0;
shl.b32 %s, %thr, 2; add.u32 %s, %s, %at; add.u32 %s, %s, 8192;
mov.u32 %sum, 0; mov.u32 %i, 0; mov.u64 %o, 0;
)";
constexpr const char* kEnd = R"(
add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 6;
@%q bra LOOP;
ld.param.u64 %out, [out]; mad.lo.u32 %t, %blk, 64, %thr; mul.wide.u32 %w, %t, 4; add.u64 %out, %out, %w;
st.global.u32 [%out], %sum;
ret;
)";

TEST(EngineLoops, AnyMixtureOfMovingPointers) {
  std::mt19937 random(7);
  for (unsigned round = 0; round < 300; ++round) {
    const unsigned stride = random() % 3 == 0 ? 16 : 4;
    std::vector<Step> steps;
    for (unsigned k = 0, count = 2 + random() % 8; k < count; ++k) {
      const auto kind = static_cast<Step::Kind>(random() % Step::kinds);
      if (kind == Step::load_four && stride != 16) continue;
      steps.push_back({kind, 16 * (static_cast<int>(random() % 9) - 4), static_cast<unsigned>(random() % 6)});
    }
    const int64_t start = 65536 + 4 * static_cast<int64_t>(stride == 16 ? 4 * (random() % 8) : random() % 32);
    const std::string body = text_of(steps);
    SCOPED_TRACE(body);
    Kernel k(std::string(kBegin) + "ld.param.u64 %p, [data]; mul.wide.u32 %w, %thr, " +
             std::to_string(stride) + "; add.u64 %p, %p, %w; add.u64 %p, %p, " + std::to_string(start) +
             "; mov.u64 %p2, %p;\nLOOP:\n" + body + kEnd);
    k.buffer("data", numbers(1 << 15)).buffer("out", std::vector<uint32_t>(kBlocks * kThreads));
    k.grid({kBlocks, 1, 1}).block({kThreads, 1, 1});
    const Expected expected = simulate(steps, start, stride);
    for (const unsigned threads : {1u, 2u}) {
      Options options;
      options.threads = threads;
      const KernelProfile profile = k.run_clean(options);
      ASSERT_EQ(k.values<uint32_t>("out"), expected.sums);
      uint64_t requests = 0, sectors = 0;
      for (const profile::MemoryCounters& c : profile.memory)
        if (c.space == AccessSpace::global && c.kind == AccessKind::load) {
          requests += c.requests;
          sectors += c.sectors;
        }
      ASSERT_EQ(requests, expected.requests);
      ASSERT_EQ(sectors, expected.sectors);
      ASSERT_EQ(profile.buffers[0].loaded_bytes_touched, expected.bytes.size());
    }
  }
}

// Lanes that choose their buffer: lane by lane, in halves, and all in one, twice each, so that what was seen
// of one access must not be taken for the next.
TEST(EngineLoops, LanesInSeveralBuffers) {
  constexpr const char* kBody = R"(
.reg .pred %q; .reg .b32 %thr, %t, %k, %v, %sum; .reg .b64 %p, %w, %a, %b, %out;
mov.u32 %thr, %tid.x; ld.param.u64 %a, [a]; ld.param.u64 %b, [b];
mov.u32 %sum, 0; mov.u32 %k, 0;
LOOP:
shr.u32 %t, %k, 1; shr.u32 %t, %thr, %t; and.b32 %t, %t, 1; setp.ne.u32 %q, %t, 0;
selp.b64 %p, %a, %b, %q;
mul.wide.u32 %w, %thr, 4; add.u64 %p, %p, %w;
ld.global.u32 %v, [%p];
mad.lo.u32 %sum, %sum, 31, %v;
add.u32 %k, %k, 1; setp.lt.u32 %q, %k, 14;
@%q bra LOOP;
ld.param.u64 %out, [out]; add.u64 %out, %out, %w; st.global.u32 [%out], %sum;
ret;
)";
  std::vector<uint32_t> a(32), b(32);
  for (unsigned i = 0; i < 32; ++i) {
    a[i] = 1000 + i;
    b[i] = 2000 + i;
  }
  Kernel k(kBody);
  k.buffer("a", a).buffer("b", b).buffer("out", std::vector<uint32_t>(32));
  const KernelProfile profile = k.run_clean();
  std::vector<uint32_t> sums(32);
  std::set<unsigned> touched[2];
  uint64_t sectors = 0;
  for (unsigned n = 0; n < 14; ++n) {
    std::set<std::pair<unsigned, unsigned>> of_request;
    for (unsigned i = 0; i < 32; ++i) {
      const unsigned buffer = (i >> n / 2) & 1 ? 0 : 1;
      sums[i] = sums[i] * 31 + (buffer == 0 ? a[i] : b[i]);
      of_request.insert({buffer, i / 8});
      touched[buffer].insert(i);
    }
    sectors += of_request.size();
  }
  EXPECT_EQ(k.values<uint32_t>("out"), sums);
  ASSERT_EQ(profile.memory.size(), 2u);
  EXPECT_EQ(profile.memory[0].requests, 14u);
  EXPECT_EQ(profile.memory[0].sectors, sectors);
  EXPECT_EQ(profile.buffers[0].loaded_bytes_touched, 4 * touched[0].size());
  EXPECT_EQ(profile.buffers[1].loaded_bytes_touched, 4 * touched[1].size());
}

// A register that a block did not write holds 0, not what the block before left there; a pointer made of such
// a register is at the buffer's start.
TEST(EngineLoops, UnwrittenRegistersAreZeroInEveryBlock) {
  constexpr const char* kBody = R"(
.reg .pred %q; .reg .b32 %thr, %blk, %t, %r, %v, %k; .reg .b64 %p, %w, %off, %out;
mov.u32 %thr, %tid.x; mov.u32 %blk, %ctaid.x;
and.b32 %t, %blk, 1; setp.eq.u32 %q, %t, 0;
@%q mov.u32 %r, 7;
mul.wide.u32 %w, %thr, 4;
@%q add.u64 %off, %w, 128;
mov.u32 %k, 0;
LOOP:
ld.param.u64 %p, [data]; add.u64 %p, %p, %off;
ld.global.u32 %v, [%p];
add.u32 %r, %r, %v;
add.u32 %k, %k, 1; setp.lt.u32 %q, %k, 3;
@%q bra LOOP;
ld.param.u64 %out, [out]; mad.lo.u32 %t, %blk, 32, %thr; mul.wide.u32 %w, %t, 4; add.u64 %out, %out, %w;
st.global.u32 [%out], %r;
ret;
)";
  Kernel k(kBody);
  k.buffer("data", numbers(64)).buffer("out", std::vector<uint32_t>(32 * 6)).grid({6, 1, 1});
  Options options;
  options.threads = 1;
  k.run_clean(options);
  std::vector<uint32_t> expected(32 * 6);
  for (unsigned i = 0; i < expected.size(); ++i)
    expected[i] = i / 32 % 2 == 0 ? 7 + 3 * value_at(32 + i % 32) : 3 * value_at(0);
  EXPECT_EQ(k.values<uint32_t>("out"), expected);
}

}  // namespace
}  // namespace fullwarp::exec::test
