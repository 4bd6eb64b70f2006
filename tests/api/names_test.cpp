// How kernels and variables are found by the names users write.
#include "api/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fullwarp::api {
namespace {

using testing::ElementsAre;

ptx::Module module_with(std::initializer_list<const char*> entries) {
  ptx::Module module;
  for (const char* name : entries) {
    ptx::Function& function = module.functions.emplace_back();
    function.name = name;
    function.entry = true;
  }
  return module;
}

TEST(Names, PlainNameDropsReturnTypeAndParameters) {
  EXPECT_EQ(plain_name(demangle("_Z9transposePfPKfi")), "transpose");
  EXPECT_EQ(plain_name(demangle("_Z4scanIfLi128EEvPT_i")), "scan<float, 128>");
  EXPECT_EQ(plain_name(demangle("_ZN2ns4scanIjEEvPT_")), "ns::scan<unsigned int>");
  EXPECT_EQ(plain_name(demangle("_ZN12_GLOBAL__N_11kEPi")), "(anonymous namespace)::k");
  EXPECT_EQ(plain_name("kernel"), "kernel");
  EXPECT_EQ(demangle("_Z"), "_Z");
}

TEST(Names, ParameterTypesSplitAtOuterCommas) {
  EXPECT_THAT(parameter_types("f(std::pair<int, float>, int*)"),
              ElementsAre("std::pair<int, float>", "int*"));
  EXPECT_THAT(parameter_types("f()"), ElementsAre());
  EXPECT_THAT(parameter_types("f"), ElementsAre());
}

TEST(Names, KernelByEverySpelling) {
  const ptx::Module module =
      module_with({"_Z9transposePfPKfi", "_Z4scanIfLi128EEvPT_i", "_ZN2ns4copyEPf", "plain"});
  EXPECT_EQ(find_kernel(module, "transpose").function, 0);
  EXPECT_EQ(find_kernel(module, "_Z9transposePfPKfi").function, 0);
  EXPECT_EQ(find_kernel(module, "scan<float, 128>").function, 1);
  EXPECT_EQ(find_kernel(module, "scan<float,128>").function, 1);
  EXPECT_EQ(find_kernel(module, "scan").function, 1);
  EXPECT_EQ(find_kernel(module, "ns::copy").function, 2);
  EXPECT_EQ(find_kernel(module, "::ns::copy").function, 2);
  EXPECT_EQ(find_kernel(module, "copy").function, 2);
  EXPECT_EQ(find_kernel(module, "plain").function, 3);
  EXPECT_EQ(find_kernel(module, "opy").function, -1);
  EXPECT_TRUE(find_kernel(module, "opy").candidates.empty());
}

TEST(Names, IntegerArgumentsMatchWithoutTheirSuffix) {
  // scan<128u>(): an unsigned template argument demangles with a suffix.
  const ptx::Module module = module_with({"_Z4scanILj128EEvv"});
  EXPECT_EQ(plain_name(demangle("_Z4scanILj128EEvv")), "scan<128u>");
  EXPECT_EQ(find_kernel(module, "scan<128>").function, 0);
}

TEST(Names, AmbiguousNamesListWhatTheyMayMean) {
  const ptx::Module module = module_with({"_Z4scanIfEvPT_", "_Z4scanIdEvPT_"});
  const KernelLookup lookup = find_kernel(module, "scan");
  EXPECT_EQ(lookup.function, -1);
  EXPECT_THAT(lookup.candidates, ElementsAre("scan<float>", "scan<double>"));
}

TEST(Names, SuggestedLaunchHasABufferForEveryPointer) {
  ptx::Function kernel;
  kernel.name = "_Z4copyPKfPfi";
  kernel.params.resize(3);
  EXPECT_EQ(suggested_launch(kernel), "copy<<<4, 256>>>(f32[1024], f32[1024], 1024)");
}

}  // namespace
}  // namespace fullwarp::api
