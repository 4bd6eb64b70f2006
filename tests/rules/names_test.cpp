// Which files are a toolkit's, and how a finding writes the name of a function.
#include "rules/names.h"

#include <gtest/gtest.h>

namespace fullwarp::rules {
namespace {

TEST(ToolkitFile, KnowsToolkitsWhereverTheyLie) {
  for (const char* path :
       {"/usr/local/cuda-13.0/include/cuda_fp16.hpp",
        "/usr/local/cuda/targets/x86_64-linux/include/cuda_bf16.hpp", "/opt/cuda/include/crt/mma.hpp",
        "cuda/include/cuda_fp16.h", "/usr/include/x86_64-linux-gnu/cuda_fp16.hpp",
        "/home/u/miniconda3/targets/sbsa-linux/include/cooperative_groups.h",
        "/venv/lib/python3.11/site-packages/nvidia/cuda_runtime/include/cuda_fp16.hpp",
        "/usr/lib/llvm-19/lib/clang/19/include/__clang_cuda_math.h", "/srv/toolkit/include/cuda_fp16.hpp",
        "/work/fullwarp/src/cudainc/mma.h", "/usr/share/fullwarp/cudainc/cooperative_groups.h",
        "/srv/ctk/include/sm_32_intrinsics.hpp", "/srv/ctk/include/cooperative_groups/details/sync.h"})
    EXPECT_TRUE(is_toolkit_file(path)) << path;
}

TEST(ToolkitFile, LeavesTheAuthorsOwnFilesAlone) {
  for (const char* path : {"kernel.cu", "src/reduce.cuh", "/home/u/project/cuda/include/tile.h",
                           "include/mma_tile.h", "/home/u/cuda-samples/Common/helper_math.h",
                           "third_party/cutlass/include/cute/swizzle.hpp", "sm_90/kernel.cu", ""})
    EXPECT_FALSE(is_toolkit_file(path)) << path;
}

TEST(Names, AFunctionLosesTypesAndInlineNamespaces) {
  // nvcc 13's names of CCCL's barrier and of a member of cooperative_groups.
  EXPECT_EQ(
      function_name(
          "_ZN4cuda3__47barrierILNS_3std3__412thread_scopeE2ENS3_18__empty_completionEE15arrive_and_waitEv"),
      "cuda::barrier::arrive_and_wait");
  EXPECT_EQ(function_name("_ZNK18cooperative_groups4__v110grid_group4syncEv"),
            "cooperative_groups::grid_group::sync");
  EXPECT_EQ(function_name("_ZN44_INTERNAL_k_cu_9atomicAddEPii"),
            "_ZN44_INTERNAL_k_cu_9atomicAddEPii");  // malformed
  EXPECT_EQ(function_name("_Z9atomicAddPii"), "atomicAdd");
  EXPECT_EQ(function_name("_ZN34_INTERNAL_c5fc1f8f_6_bar_cu__Z1kPi4cuda3ptx3__415mbarrier_arriveIvEEmPm"),
            "cuda::ptx::mbarrier_arrive");
  EXPECT_EQ(
      function_name("_ZN4cuda3std3__46chronogeIxNS1_5ratioILl1ELl1000000000EEExNS4_ILl1ELl1000EEEEEbRKNS2_"
                    "8durationIT_T0_EERKNS7_IT1_T2_EE"),
      "cuda::std::chrono::operator>=");
  EXPECT_EQ(function_name("_ZNK3FoocvfEv"), "Foo::operator float");
  EXPECT_EQ(function_name("_ZN7__half2aSERKS_"), "__half2::operator=");
  EXPECT_EQ(function_name("_ZN5tools4addsIfEET_S1_S1_"),
            "tools::adds");  // float tools::adds<float>(float, float)
  EXPECT_EQ(function_name("_ZN3FooclEi"), "Foo::operator()");
  EXPECT_EQ(function_name("plain"), "plain");
}

TEST(Names, AVariableOfAFunctionIsItsLastPart) {
  EXPECT_EQ(source_name("_ZZ9transposePKfPfiE4tile"), "tile");
  EXPECT_EQ(source_name("_ZZ4scanILi128EEvN2ns4dataEE4sums"), "sums");  // scan<128>(ns::data)::sums
  EXPECT_EQ(source_name("_ZN2ns4scanILi128EEEvNS_4dataE"), "scan");
  EXPECT_EQ(source_name("tile"), "tile");
}

}  // namespace
}  // namespace fullwarp::rules
