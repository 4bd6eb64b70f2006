// Loading with ptxas: registers and machine accesses come from the cubin. Skipped where there is no ptxas.
#include <gtest/gtest.h>

#include "api/load.h"
#include "input/compiler.h"
#include "model/machine_accesses.h"

namespace fullwarp::api {
namespace {

constexpr const char* kTiled = FULLWARP_SOURCE_DIR "/tests/golden/ptx/matmul/03_tiled.ptx";

TEST(MachineCode, APtxFileIsAssembledOnDemandOnly) {
  const Result<LoadedPointer> loaded = load_file(kTiled, {});
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  EXPECT_FALSE((*loaded)->machine_code);
  EXPECT_TRUE((*loaded)->resources.empty());
}

TEST(MachineCode, GivesRegistersAndAccesses) {
  if (input::find_ptxas().empty()) GTEST_SKIP() << "no ptxas here";
  LoadOptions options;
  options.assemble_ptx = true;
  const Result<LoadedPointer> loaded = load_file(kTiled, options);
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  const LoadedProgram& program = **loaded;
  ASSERT_TRUE(program.machine_code);
  size_t accesses = 0, requests = 0;
  for (size_t f = 0; f < program.module.functions.size(); ++f) {
    const ptx::Function& function = program.module.functions[f];
    if (!function.entry) continue;
    const cubin::Kernel* code = program.machine_code->find(function.name);
    ASSERT_NE(code, nullptr) << function.name;
    EXPECT_TRUE(code->has_lines);
    const auto used = program.resources.find(function.name);
    ASSERT_NE(used, program.resources.end());
    EXPECT_GT(code->registers, 0u);
    EXPECT_EQ(used->second.registers_per_thread, code->registers);  // ptxas's report and its cubin agree
    for (const mem::MachineAccess& access :
         model::machine_accesses(program.module, static_cast<int32_t>(f), code)) {
      accesses += access.width_bytes != 0;
      requests += access.counts();
    }
  }
  // A tile's 64 loads are 40 in machine code (docs/machine-accesses.md): some must be merged.
  EXPECT_LT(requests, accesses);
}

}  // namespace
}  // namespace fullwarp::api
