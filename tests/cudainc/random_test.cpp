// Kernels that use cuRAND's device side, compiled with no toolkit, give the values of NVIDIA's library:
// random.cu says what is compared.
#include <gtest/gtest.h>

#include "fullwarp/check.h"
#include "input/compiler.h"

namespace fullwarp {
namespace {

TEST(Random, ValuesAreThoseOfCurand) {
  if (!input::find_compiler("clang").ok()) GTEST_SKIP() << "skipped: no clang++ on this machine";
  CheckOptions options;
  options.files = {std::string(FULLWARP_SOURCE_DIR) + "/tests/cudainc/random.cu"};
  options.compiler = "clang";
  options.rules = false;
  const report::Report report = check(options);
  for (const Error& error : report.errors) ADD_FAILURE() << error.to_string();
  ASSERT_EQ(report.kernels.size(), 2u);
  for (const report::KernelReport& kernel : report.kernels)
    for (const diag::Finding& finding : kernel.findings)
      if (finding.level == diag::Level::error) ADD_FAILURE() << kernel.name << ": " << finding.message;
}

}  // namespace
}  // namespace fullwarp
