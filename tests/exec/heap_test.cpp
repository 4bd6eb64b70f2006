// malloc and free in kernels: memory that is nobody else's, null when 8 MB are taken, room again after free.
#include "run_ptx.h"

namespace fullwarp::exec::test {
namespace {

const char* const kDeclarations =
    ".extern .func (.param .b64 result) malloc (.param .b64 bytes);\n.extern .func free (.param .b64 p);\n";

// malloc of `bytes` into %p.
std::string call_malloc(const std::string& bytes) {
  return "{ .param .b64 n; .param .b64 r; st.param.b64 [n], " + bytes +
         "; call.uni (r), malloc, (n); ld.param.b64 %p, [r]; }\n";
}
const std::string kFree = "{ .param .b64 n; st.param.b64 [n], %p; call.uni free, (n); }\n";
const std::string kBegin =
    ".reg .b64 %out, %at, %p, %v; .reg .b32 %t, %b, %n; .reg .pred %q;\n"
    "ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mad.lo.u32 %t, %b, 32, %t;\n"
    "mul.wide.u32 %at, %t, 8; add.s64 %at, %out, %at;\n";

TEST(Heap, EveryThreadGetsItsOwnMemory) {
  Kernel kernel(kBegin + call_malloc("24") +
                    "cvt.u64.u32 %v, %t; st.u64 [%p], %v; st.u64 [%p+16], %v; ld.u64 %v, [%p+16];\n"
                    "st.global.u64 [%at], %p;\nret;",
                kDeclarations);
  kernel.grid({4, 1, 1}).buffer("out", std::vector<uint64_t>(128));
  kernel.run_clean();
  std::vector<uint64_t> addresses = kernel.values<uint64_t>("out");
  std::sort(addresses.begin(), addresses.end());
  EXPECT_NE(addresses[0], 0u);
  for (size_t i = 0; i < addresses.size(); ++i) {
    EXPECT_EQ(addresses[i] % 16, 0u);
    if (i != 0) {
      EXPECT_GE(addresses[i] - addresses[i - 1], 24u);
    }
  }
}

TEST(Heap, NullBeyondTheLimitAndRoomAfterFree) {
  // One thread: 3 MB three times (the third does not fit into 8 MB), then free the second and try again.
  const std::string take = call_malloc("3145728") + "st.global.u64 [%at], %p; add.s64 %at, %at, 8;\n";
  Kernel kernel(kBegin + take + take + "mov.u64 %v, %p;\n" + take + "mov.u64 %p, %v;\n" + kFree + take +
                    "mov.u64 %p, 0;\n" + kFree + "ret;",
                kDeclarations);
  kernel.block({1, 1, 1}).buffer("out", std::vector<uint64_t>(4, 1));
  kernel.run_clean();
  const std::vector<uint64_t> got = kernel.values<uint64_t>("out");
  EXPECT_NE(got[0], 0u);
  EXPECT_NE(got[1], 0u);
  EXPECT_EQ(got[2], 0u);
  EXPECT_NE(got[3], 0u);
}

TEST(Heap, HugeAndForeignPointersAreRefused) {
  Kernel kernel(kBegin + call_malloc("-1") + "st.global.u64 [%at], %p; mov.u64 %p, %out;\n" + kFree +
                    "add.s64 %p, %out, 3;\n" + kFree + "mov.u64 %p, -1;\n" + kFree + "ret;",
                kDeclarations);
  kernel.block({1, 1, 1}).buffer("out", std::vector<uint64_t>(1, 1));
  kernel.run_clean();
  EXPECT_EQ(kernel.values<uint64_t>("out"), std::vector<uint64_t>{0});
}

TEST(Heap, AccessThroughNullIsFound) {
  Kernel kernel(kBegin + call_malloc("99999999") + "st.u64 [%p], %at;\nret;", kDeclarations);
  kernel.block({1, 1, 1}).buffer("out", std::vector<uint64_t>(1));
  const profile::KernelProfile profile = kernel.run();
  ASSERT_EQ(profile.faults.size(), 1u);
  EXPECT_EQ(profile.faults[0].kind, profile::FaultKind::null_pointer);
}

}  // namespace
}  // namespace fullwarp::exec::test
