// Every SM over a grid of block sizes, registers and shared memory, against the toolkit's own calculator.
#include <gtest/gtest.h>

#include "model/occupancy.h"

#ifdef FULLWARP_HAS_CUDA_OCCUPANCY
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop

namespace fullwarp::model {
namespace {

cudaOccDeviceProp properties(const gpu::Sm& sm) {
  cudaOccDeviceProp p;
  p.computeMajor = static_cast<int>(sm.version / 10);
  p.computeMinor = static_cast<int>(sm.version % 10);
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsPerMultiprocessor = static_cast<int>(sm.warps * 32);
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.warpSize = 32;
  p.sharedMemPerBlock = sm.block_shared_bytes;
  p.sharedMemPerMultiprocessor = sm.shared_bytes;
  p.numSms = 1;
  p.sharedMemPerBlockOptin = sm.block_shared_optin_bytes;
  p.reservedSharedMemPerBlock = sm.block_shared_reserved_bytes;
  return p;
}

class EverySm : public testing::TestWithParam<uint32_t> {};

TEST_P(EverySm, EqualsTheToolkit) {
  const gpu::Sm& sm = *gpu::find_sm(GetParam());
  const cudaOccDeviceProp device = properties(sm);
  const cudaOccDeviceState state;
  for (int threads = 1; threads <= 1024; threads += threads % 32 ? 31 : 1) {
    for (uint32_t registers :
         {0, 1, 8, 16, 24, 32, 33, 40, 48, 63, 64, 65, 72, 96, 127, 128, 168, 200, 254, 255}) {
      for (uint32_t statics : {0u, 1u, 1024u, 8192u, 33000u, 49152u}) {
        for (uint32_t dynamic : {0u, 100u, 16384u, 40000u, 66000u, 100000u, 150000u, 231000u}) {
          cudaOccFuncAttributes kernel;
          kernel.maxThreadsPerBlock = 1024;
          kernel.numRegs = static_cast<int>(registers);
          kernel.sharedSizeBytes = statics;
          kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
          kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
          kernel.maxDynamicSharedSizeBytes =
              sm.block_shared_optin_bytes - std::min<uint32_t>(statics, sm.block_shared_optin_bytes);
          kernel.numBlockBarriers = 1;
          cudaOccResult want;
          ASSERT_EQ(
              cudaOccMaxActiveBlocksPerMultiprocessor(&want, &device, &kernel, &state, threads, dynamic),
              CUDA_OCC_SUCCESS);
          const Occupancy got = occupancy(sm, {static_cast<uint32_t>(threads), statics, dynamic, registers});
          ASSERT_EQ(got.blocks, static_cast<uint32_t>(want.activeBlocksPerMultiprocessor))
              << "threads " << threads << " registers " << registers << " static " << statics << " dynamic "
              << dynamic;
          ASSERT_EQ(got.block_shared_bytes, want.allocatedSharedMemPerBlock);
          ASSERT_EQ(got.block_registers, static_cast<uint32_t>(want.allocatedRegistersPerBlock));
          const auto names = [&](Limiter limiter) {
            return std::find(got.limiters.begin(), got.limiters.end(), limiter) != got.limiters.end();
          };
          ASSERT_EQ(names(Limiter::warps), (want.limitingFactors & OCC_LIMIT_WARPS) != 0);
          ASSERT_EQ(names(Limiter::blocks), (want.limitingFactors & OCC_LIMIT_BLOCKS) != 0);
          ASSERT_EQ(names(Limiter::registers), (want.limitingFactors & OCC_LIMIT_REGISTERS) != 0);
          ASSERT_EQ(names(Limiter::shared), (want.limitingFactors & OCC_LIMIT_SHARED_MEMORY) != 0);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sm, EverySm, testing::Values(70, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121));

}  // namespace
}  // namespace fullwarp::model

#else

TEST(EverySm, EqualsTheToolkit) {
  GTEST_SKIP() << "cuda_occupancy.h is not here: install a CUDA toolkit to compare";
}

#endif
