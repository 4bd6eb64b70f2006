// What a launch leaves beside the buffers for the next one must not show there.
#include "exec/spare_blocks.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "run_ptx.h"

namespace fullwarp::exec::test {
namespace {

bool all_zero(const std::byte* block, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; ++i)
    if (block[i] != std::byte{0}) return false;
  return true;
}

TEST(SpareBlocks, AreZeroAgain) {
  SpareBlocks spare;
  constexpr uint64_t kBytes = 10000;
  AlignedBytes block = spare.take(kBytes);
  ASSERT_TRUE(all_zero(block.get(), kBytes));
  std::byte* const first = block.get();
  std::memset(first + 100, 1, 50);
  std::memset(first + 9000, 2, 1000);
  spare.give(std::move(block), kBytes, {{100, 150}, {9000, 10000}});
  EXPECT_NE(spare.take(kBytes + 1).get(), first);  // of another size
  block = spare.take(kBytes);
  EXPECT_EQ(block.get(), first);
  EXPECT_TRUE(all_zero(block.get(), kBytes));
  EXPECT_NE(spare.take(kBytes).get(), first);  // which is in use
}

TEST(SpareBlocks, TheOldestGoWhenThereAreTooMany) {
  SpareBlocks spare;
  constexpr uint64_t kHalf = uint64_t{100} << 20;  // of what is kept; no page of it is touched
  AlignedBytes a = spare.take(kHalf), b = spare.take(kHalf), c = spare.take(kHalf);
  std::byte* const kept = c.get();
  spare.give(std::move(a), kHalf, {});
  spare.give(std::move(b), kHalf, {});
  spare.give(std::move(c), kHalf, {});
  bool found = false;
  std::vector<AlignedBytes> taken;
  for (int k = 0; k < 3; ++k) {
    taken.push_back(spare.take(kHalf));
    found |= taken.back().get() == kept;
  }
  EXPECT_TRUE(found);
}

// Thread t stores word 8 t of `in` to word t of `out` and loads the word of `in` of that number.
const std::string kBody =
    ".reg .b32 %t, %a, %b; .reg .b64 %in, %out, %x, %y;\n"
    "mov.u32 %t, %ctaid.x; mov.u32 %a, %tid.x; mad.lo.u32 %t, %t, 64, %a;\n"
    "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mul.wide.u32 %x, %t, 32; add.u64 %x, %in, %x;\n"
    "ld.global.u32 %a, [%x]; ld.global.u32 %b, [%x+4]; mul.wide.u32 %y, %t, 4; add.u64 %y, %out, %y;\n"
    "st.global.u32 [%y], %a; mul.wide.u32 %y, %a, 4; add.u64 %y, %in, %y; ld.global.u32 %b, [%y]; ret;";

TEST(SpareBlocks, LaunchesInOneMemoryCountAlike) {
  for (const unsigned threads : {1u, 2u}) {
    Kernel k(kBody);
    std::vector<uint32_t> in(4096);
    for (uint32_t i = 0; i < in.size(); ++i) in[i] = i * 37 % 512;
    k.buffer("in", in).buffer("out", std::vector<uint32_t>(512)).block({64, 1, 1}).grid({8, 1, 1});
    Options options;
    options.threads = threads;
    const profile::KernelProfile first = k.run(options), second = k.run_again(options);
    ASSERT_EQ(k.error, "");
    ASSERT_EQ(first.buffers.size(), second.buffers.size());
    EXPECT_EQ(first.faults.size(), second.faults.size());
    for (size_t b = 0; b < first.buffers.size(); ++b) {
      EXPECT_EQ(first.buffers[b].loaded_bytes_touched, second.buffers[b].loaded_bytes_touched);
      EXPECT_EQ(first.buffers[b].stored_bytes_touched, second.buffers[b].stored_bytes_touched);
      EXPECT_EQ(first.buffers[b].block_load_sectors, second.buffers[b].block_load_sectors);
    }
    ASSERT_EQ(first.memory.size(), second.memory.size());
    for (size_t s = 0; s < first.memory.size(); ++s)
      EXPECT_EQ(first.memory[s].sectors, second.memory[s].sectors);
  }
}

}  // namespace
}  // namespace fullwarp::exec::test
