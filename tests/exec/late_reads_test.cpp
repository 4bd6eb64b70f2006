// Reads of scattered places of shared memory, which the race detector records late or never (race.h): random
// kernels of two warps that load and store strided words between barriers, against a plain list of who
// touched what since the last barrier. Block 0 has a barrier after every access: it shows the engine the
// patterns, and has no race.
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "run_ptx.h"

namespace fullwarp::exec::test {
namespace {

constexpr uint32_t kWords = 256;

struct Access {
  uint32_t warp = 0, first = 0, stride = 1;  // lane i is at word first + i * stride
  bool store = false;
  bool changes = false;  // has a stride of 1 in block 0, so that the pattern is new in block 1
};
using Interval = std::vector<Access>;  // between two barriers; a warp's in their order

bool has_race(const std::vector<Interval>& intervals) {
  for (const Interval& interval : intervals) {
    std::map<uint32_t, std::set<uint32_t>> touching, writing;  // threads, by word
    for (const Access& a : interval)
      for (uint32_t lane = 0; lane < 32; ++lane) {
        const uint32_t word = a.first + lane * a.stride, thread = 32 * a.warp + lane;
        touching[word].insert(thread);
        if (a.store) writing[word].insert(thread);
      }
    for (const auto& [word, threads] : writing)
      if (touching[word].size() > 1) return true;
  }
  return false;
}

std::string kernel_of(const std::vector<Interval>& intervals) {
  std::string body =
      ".reg .pred %p0, %p1, %first; .reg .b32 %thr, %lane, %warp, %at, %v, %r, %stride;\n"
      ".shared .align 16 .b8 words[1024];\n"
      "mov.u32 %thr, %tid.x; and.b32 %lane, %thr, 31; shr.u32 %warp, %thr, 5;\n"
      "setp.eq.u32 %p0, %warp, 0; setp.eq.u32 %p1, %warp, 1;\n"
      "mov.u32 %r, %ctaid.x; setp.eq.u32 %first, %r, 0;\n"
      "mov.u32 %at, words; mad.lo.u32 %at, %thr, 16, %at; mov.u32 %v, 0;\n"
      "st.shared.u32 [%at], %v; st.shared.u32 [%at+4], %v; st.shared.u32 [%at+8], %v;\n"
      "st.shared.u32 [%at+12], %v; mov.u32 %v, %thr;\n";
  for (const Interval& interval : intervals) {
    body += "bar.sync 0;\n";
    for (const Access& a : interval) {
      const std::string guard = "@%p" + std::to_string(a.warp) + " ";
      body += "mov.u32 %at, words; mov.u32 %stride, " + std::to_string(4 * a.stride) + ";\n" +
              (a.changes ? "@%first mov.u32 %stride, 4;\n" : "") +
              "mad.lo.u32 %at, %lane, %stride, %at; add.u32 %v, %v, 64;\n";  // no value is stored twice
      body += guard + (a.store ? "st.shared.u32 [%at+" : "ld.shared.u32 %r, [%at+") +
              std::to_string(4 * a.first) + (a.store ? "], %v;\n" : "];\n") + "@%first bar.sync 0;\n";
    }
  }
  return body + "ret;";
}

bool reports_race(const std::vector<Interval>& intervals) {
  Kernel k(kernel_of(intervals));
  k.buffer("out", std::vector<uint32_t>(4)).block({64, 1, 1}).grid({2, 1, 1});
  const profile::KernelProfile profile = k.run(Options{});
  EXPECT_EQ(k.error, "");
  for (const profile::Fault& f : profile.faults)
    if (f.kind == profile::FaultKind::shared_race) return true;
  return false;
}

// Behind a barrier of all the warp that came last goes on first: warp 1 reads, then warp 0 writes.
TEST(LateReads, MatterOnceSomebodyWrites) {
  // A stride of 7 words is scattered; the store comes to word 7, too.
  const Access read{1, 0, 7, false}, write{0, 7, 1, true};
  EXPECT_TRUE(reports_race({{read, write}}));
  EXPECT_FALSE(reports_race({{read}, {write}}));
  EXPECT_FALSE(reports_race({{read, {0, 0, 7, false}}, {write}}));
}

TEST(LateReads, OfSeveralWarpsStayOnRecord) {
  const Access first{1, 3, 7, false}, second{0, 3, 7, false}, write{0, 3, 7, true};
  EXPECT_TRUE(reports_race({{first, second, write}}));
  EXPECT_FALSE(reports_race({{second, write}}));
}

TEST(LateReads, AreMetByCopiesAndAtomics) {
  const auto faults_of = [](const std::string& write) {
    Kernel k(
        ".reg .pred %p; .reg .b32 %thr, %at, %r; .reg .b64 %out;\n"
        ".shared .align 16 .b8 words[1024];\n"
        "mov.u32 %thr, %tid.x; mov.u32 %at, words; mad.lo.u32 %at, %thr, 16, %at;\n"
        "st.shared.v4.u32 [%at], {%thr, %thr, %thr, %thr}; ld.param.u64 %out, [out]; bar.sync 0;\n"
        "setp.ge.u32 %p, %thr, 32; mov.u32 %at, words; mad.lo.u32 %at, %thr, 28, %at;\n"
        "@%p ld.shared.u32 %r, [%at+-896]; setp.eq.u32 %p, %thr, 0;\n"
        "mov.u32 %r, %ctaid.x; setp.eq.and.u32 %p, %r, 1, %p;\n" +  // once the pattern is known
        write +
        "ret;");
    k.buffer("out", std::vector<uint32_t>(4)).block({64, 1, 1}).grid({2, 1, 1});
    const profile::KernelProfile profile = k.run(Options{});
    EXPECT_EQ(k.error, "");
    std::vector<std::string> texts;
    for (const profile::Fault& f : profile.faults) texts.push_back(f.detail);
    return texts;
  };
  const std::string met = "read by thread (33, 0, 0) with no barrier between";
  EXPECT_EQ(faults_of("@%p cp.async.ca.shared.global [words+28], [%out], 4; cp.async.wait_all;\n"),
            std::vector<std::string>{met});
  EXPECT_EQ(faults_of("@%p red.shared.add.u32 [words+28], 1;\n"), std::vector<std::string>{met});
  EXPECT_EQ(faults_of("@%p red.shared.add.u32 [words+32], 1;\n"), std::vector<std::string>{});
}

TEST(LateReads, AreOfThePatternThatTheSiteHad) {
  // One load, in a loop: by 7 words from word 0 first, by 6 from word 3 then. Warp 0 stores to a word that
  // only the first time had.
  const auto body = [](bool barrier) {
    return std::string(
               ".reg .pred %p, %q; .reg .b32 %thr, %lane, %at, %r, %n, %stride, %first;\n"
               ".shared .align 16 .b8 words[1024];\n"
               "mov.u32 %thr, %tid.x; and.b32 %lane, %thr, 31; setp.ge.u32 %p, %thr, 32;\n"
               "mov.u32 %at, words; mad.lo.u32 %at, %thr, 16, %at;\n"
               "st.shared.v4.u32 [%at], {%thr, %thr, %thr, %thr}; bar.sync 0;\n"
               "mov.u32 %n, 0; mov.u32 %stride, 28; mov.u32 %first, 0; @!%p bra after;\n"
               "again: mov.u32 %at, words; add.u32 %at, %at, %first; mad.lo.u32 %at, %lane, %stride, %at;\n"
               "ld.shared.u32 %r, [%at]; mov.u32 %stride, 24; mov.u32 %first, 12;\n"
               "add.u32 %n, %n, 1; setp.lt.u32 %q, %n, 2; @%q bra again;\n"
               "after: ") +
           (barrier ? "bar.sync 0;\n" : "") +
           "setp.eq.u32 %p, %thr, 0; @%p st.shared.u32 [words+28], %thr;\nret;";
  };
  for (const bool barrier : {false, true}) {
    Kernel k(body(barrier));
    k.buffer("out", std::vector<uint32_t>(4)).block({64, 1, 1});
    const profile::KernelProfile profile = k.run(Options{});
    ASSERT_EQ(k.error, "");
    bool with_reader = false;
    for (const profile::Fault& f : profile.faults)
      with_reader |= f.detail.starts_with("read by thread (33, 0, 0)");
    EXPECT_EQ(with_reader, !barrier);
  }
}

TEST(LateReads, RandomKernels) {
  std::mt19937 random(1);
  unsigned racy = 0;
  constexpr unsigned kKernels = 400;
  for (unsigned n = 0; n < kKernels; ++n) {
    std::vector<Interval> intervals(1 + random() % 3);
    for (Interval& interval : intervals)
      for (unsigned k = 1 + random() % 4; k > 0; --k) {
        Access a;
        const uint32_t strides[] = {1, 5, 6, 7};
        a.stride = strides[random() % 4];
        a.first = random() % (kWords - 31 * a.stride);
        if (!interval.empty() && random() % 2) a = interval.back();
        a.warp = random() % 2;
        a.store = random() % 5 == 0;
        a.changes = random() % 4 == 0;
        interval.push_back(a);
      }
    const bool want = has_race(intervals);
    racy += want;
    ASSERT_EQ(reports_race(intervals), want) << kernel_of(intervals);
  }
  EXPECT_GT(racy, kKernels / 10);
  EXPECT_LT(racy, kKernels * 9 / 10);
}

}  // namespace
}  // namespace fullwarp::exec::test
