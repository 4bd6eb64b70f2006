// cp.async and mbarrier: what arrives, what is counted, and that producers and consumers order each other.
#include <numeric>

#include "run_ptx.h"

namespace fullwarp::exec::test {
namespace {

std::vector<uint32_t> counting(size_t n) {
  std::vector<uint32_t> v(n);
  std::iota(v.begin(), v.end(), 1u);
  return v;
}

constexpr const char* kRegisters =
    ".reg .pred %p, %q; .reg .b32 %t, %x, %r, %s, %n; .reg .b64 %at, %in, %out, %w, %state; mov.u32 %t, "
    "%tid.x;\n"
    "ld.param.u64 %in, [in]; ld.param.u64 %out, [out];\n";

// Each thread copies `bytes`, everybody waits, and each reads its neighbour's words.
std::string copy(unsigned bytes, const std::string& limit) {
  const std::string b = std::to_string(bytes);
  std::string text =
      std::string(kRegisters) + ".shared .align 16 .b8 tile[512];\nmov.u32 %r, tile; mad.lo.u32 %r, %t, " +
      b + ", %r; mad.wide.u32 %at, %t, " + b + ", %in;\nsetp.lt.u32 %p, %t, 8; shr.u32 %s, %t, 1;\n" +
      "cp.async.ca.shared.global [%r], [%at], " + b + limit +
      ";\ncp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\n" +
      "xor.b32 %x, %t, 1; mov.u32 %r, tile; mad.lo.u32 %r, %x, " + b + ", %r; mad.wide.u32 %at, %t, " + b +
      ", %out;\n";
  for (unsigned k = 0; k < bytes; k += 4)
    text += "ld.shared.u32 %x, [%r+" + std::to_string(k) + "]; st.global.u32 [%at+" + std::to_string(k) +
            "], %x;\n";
  return text + "ret;";
}

TEST(OpsAsync, CopiesWhatItIsTold) {
  for (unsigned bytes : {4u, 8u, 16u}) {
    const unsigned words = bytes / 4;
    const std::vector<uint32_t> in = counting(32 * words);
    // Limits: none, a predicate (threads 0 to 7 take zeros), a size of t / 2 bytes.
    for (int limit = 0; limit < 3; ++limit) {
      Kernel k(copy(bytes, limit == 0 ? "" : limit == 1 ? ", %p" : ", %s"));
      k.buffer("in", in).buffer("out", std::vector<uint32_t>(32 * words));
      k.run_clean();
      std::vector<uint32_t> want(32 * words);
      for (unsigned t = 0; t < 32; ++t) {
        const unsigned from = t ^ 1, take = limit == 0   ? bytes
                                            : limit == 1 ? (from < 8 ? 0 : bytes)
                                                         : std::min(from / 2, bytes);
        std::memcpy(&want[t * words], &in[from * words], take);
      }
      EXPECT_EQ(k.values<uint32_t>("out"), want) << bytes << " bytes, limit " << limit;
    }
  }
}

TEST(OpsAsync, CountsBothSides) {
  Kernel k(copy(16, ""));
  k.buffer("in", counting(128)).buffer("out", std::vector<uint32_t>(128));
  const profile::KernelProfile profile = k.run_clean();
  bool loads = false, copies = false;
  for (const profile::MemoryCounters& c : profile.memory) {
    if (c.kind == mem::AccessKind::load && c.space == mem::AccessSpace::global && c.width_bytes == 16) {
      EXPECT_EQ(c.requests, 1u);
      EXPECT_EQ(c.sectors, 16u);  // 512 bytes
      loads = true;
    }
    if (c.kind == mem::AccessKind::async_copy) {
      EXPECT_EQ(c.requests, 1u);
      EXPECT_EQ(c.wavefronts, 4u);  // 512 bytes, 128 a wavefront
      copies = true;
    }
  }
  EXPECT_TRUE(loads && copies);
}

TEST(OpsAsync, ReadingAnothersCopyWithoutABarrierIsARace) {
  std::string text = copy(4, "");
  text.erase(text.find("bar.sync 0;"), 11);
  Kernel k(text);
  k.buffer("in", counting(32)).buffer("out", std::vector<uint32_t>(32));
  const profile::KernelProfile profile = k.run();
  EXPECT_EQ(k.error, "");
  ASSERT_FALSE(profile.faults.empty());
  EXPECT_EQ(profile.faults[0].kind, profile::FaultKind::shared_race);
}

// Warp 0 fills a word for each of its lanes, warp 1 adds it up, three rounds, with a full and an empty
// barrier.
constexpr const char* kPipeline =
    ".shared .align 8 .b64 full, empty; .shared .align 4 .b8 tile[128];\n"
    "setp.ne.u32 %p, %t, 0; @%p bra $ready; mbarrier.init.shared.b64 [full], 32; mbarrier.init.shared.b64 "
    "[empty], 32;\n"
    "$ready: bar.sync 0; mov.u32 %n, 0; and.b32 %x, %t, 31; mov.u32 %r, tile; mad.lo.u32 %r, %x, 4, %r;\n"
    "setp.ge.u32 %q, %t, 32; @%q bra $consumer;\n"
    "$produce: setp.eq.u32 %p, %n, 0; @%p bra $fill; sub.u32 %s, %n, 1; and.b32 %s, %s, 1;\n"
    "$wait_empty: mbarrier.try_wait.parity.shared.b64 %p, [empty], %s; @!%p bra $wait_empty;\n"
    "$fill: mad.lo.u32 %s, %n, 100, %x; st.shared.u32 [%r], %s; mbarrier.arrive.shared.b64 %state, [full];\n"
    "add.u32 %n, %n, 1; setp.lt.u32 %p, %n, 3; @%p bra $produce; ret;\n"
    "$consumer: mov.u32 %t, 0;\n"
    "$consume: and.b32 %s, %n, 1;\n"
    "$wait_full: mbarrier.try_wait.parity.shared.b64 %p, [full], %s; @!%p bra $wait_full;\n"
    "xor.b32 %s, %x, 5; mov.u32 %r, tile; mad.lo.u32 %r, %s, 4, %r; ld.shared.u32 %s, [%r]; add.u32 %t, %t, "
    "%s;\n"
    "mbarrier.arrive.shared.b64 _, [empty]; add.u32 %n, %n, 1; setp.lt.u32 %p, %n, 3; @%p bra $consume;\n"
    "mad.wide.u32 %at, %x, 4, %out; st.global.u32 [%at], %t; ret;";

TEST(OpsAsync, ProducerAndConsumerTakeTurns) {
  Kernel k(std::string(kRegisters) + kPipeline);
  k.buffer("in", std::vector<uint32_t>(1)).buffer("out", std::vector<uint32_t>(32)).block({64, 1, 1});
  k.run_clean();
  std::vector<uint32_t> want(32);
  for (uint32_t x = 0; x < 32; ++x) want[x] = 3 * (x ^ 5) + 100 + 200;
  EXPECT_EQ(k.values<uint32_t>("out"), want);
}

TEST(OpsAsync, StateTestWaitAndPendingCount) {
  // A count of 3: the first arrival leaves 2 pending; its phase is over after the third.
  Kernel k(
      std::string(kRegisters) +
      ".shared .align 8 .b64 bar;\nsetp.ne.u32 %p, %t, 0; @%p ret;\n"
      "mbarrier.init.shared.b64 [bar], 3; mbarrier.arrive.shared.b64 %state, [bar];\n"
      "mbarrier.pending_count.b64 %x, %state; st.global.u32 [%out], %x;\n"
      "mbarrier.test_wait.shared.b64 %p, [bar], %state; selp.u32 %x, 1, 0, %p; st.global.u32 [%out+4], %x;\n"
      "mbarrier.arrive.shared.b64 %w, [bar], 2;\n"
      "mbarrier.test_wait.shared.b64 %p, [bar], %state; selp.u32 %x, 1, 0, %p; st.global.u32 [%out+8], %x;\n"
      "mbarrier.test_wait.parity.shared.b64 %p, [bar], 0; selp.u32 %x, 1, 0, %p; st.global.u32 [%out+12], "
      "%x;\n"
      "mbarrier.test_wait.parity.shared.b64 %p, [bar], 1; selp.u32 %x, 1, 0, %p; st.global.u32 [%out+16], "
      "%x;\n"
      "mbarrier.arrive_drop.shared.b64 %state, [bar]; mbarrier.arrive.shared.b64 %state, [bar], 2;\n"  // phase
                                                                                                       // 1
                                                                                                       // ends
      "mbarrier.arrive.shared.b64 %state, [bar]; mbarrier.pending_count.b64 %x, %state; st.global.u32 "
      "[%out+20], %x;\n"
      "mbarrier.inval.shared.b64 [bar];\nret;");
  k.buffer("in", std::vector<uint32_t>(1)).buffer("out", std::vector<uint32_t>(6));
  k.run_clean();
  EXPECT_EQ(k.values<uint32_t>("out"), (std::vector<uint32_t>{3, 0, 1, 1, 0, 2}));
}

TEST(OpsAsync, BulkCopyCompletesItsBytes) {
  Kernel k(std::string(kRegisters) +
           ".shared .align 8 .b64 bar; .shared .align 16 .b8 tile[128];\n"
           "setp.ne.u32 %p, %t, 0; @%p bra $ready; mbarrier.init.shared.b64 [bar], 1;\n$ready: bar.sync 0;\n"
           "setp.ne.u32 %p, %t, 0; @%p bra $wait; mbarrier.arrive.expect_tx.shared.b64 %state, [bar], 128;\n"
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%in], 128, [bar];\n"
           "$wait: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra $wait;\n"
           "mov.u32 %r, tile; mad.lo.u32 %r, %t, 4, %r; ld.shared.u32 %x, [%r]; bar.sync 0; add.u32 %x, %x, "
           "1; st.shared.u32 [%r], %x;\n"
           "bar.sync 0; setp.ne.u32 %p, %t, 0; @%p ret; cp.async.bulk.global.shared::cta.bulk_group [%out], "
           "[tile], 128;\n"
           "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nret;");
  k.buffer("in", counting(32)).buffer("out", std::vector<uint32_t>(32));
  k.run_clean();
  std::vector<uint32_t> want = counting(32);
  for (uint32_t& x : want) ++x;
  EXPECT_EQ(k.values<uint32_t>("out"), want);
}

TEST(OpsAsync, ABarrierThatWasNeverInitialisedIsAFault) {
  Kernel k(std::string(kRegisters) +
           ".shared .align 8 .b64 bar;\nmbarrier.arrive.shared.b64 %state, [bar];\nret;");
  k.buffer("in", std::vector<uint32_t>(1)).buffer("out", std::vector<uint32_t>(1));
  const profile::KernelProfile profile = k.run();
  EXPECT_EQ(k.error, "");
  bool invalid = false;
  for (const profile::Fault& f : profile.faults) invalid |= f.kind == profile::FaultKind::invalid_instruction;
  EXPECT_TRUE(invalid);
}

}  // namespace
}  // namespace fullwarp::exec::test
