// Sources of many shapes through the compilers that are here: nvcc and clang, each skipped where it is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "input/compile.h"
#include "input/compiler.h"

namespace fullwarp::input {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kSource = R"(#include <cstdio>
struct Params { float a; int b; float* p; };
namespace ns {
template <class T, int N> __global__ void scan(const T* in, T* out, int n) {
  int i = threadIdx.x;
  if (i < n) out[i] = in[i] * N;
}
}
namespace { template <class T> __global__ void hidden(T* p) { p[0] = 1; } }
extern "C" __global__ void plain(float* p, float x, Params s) { p[threadIdx.x] = x + s.a; }
__constant__ float c_weights[9];
__global__ void weights(float* o) { o[threadIdx.x] = c_weights[threadIdx.x]; }
int main() {
  float* p = nullptr;
  cudaMalloc(&p, 1024);
  plain<<<1, 32>>>(p, 1.0f, Params{1, 2, p});
  ns::scan<double, 4><<<1, 32>>>(nullptr, nullptr, 3);
  std::printf("%d\n", (int)cudaDeviceSynchronize());
}
)";

class RealCompilers : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              ("fullwarp_real_" + std::string(GetParam()) + "_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    setenv("FULLWARP_CACHE_DIR", (folder_ / "cache").c_str(), 1);
    options_.compiler = GetParam();
    const Result<Compiler> compiler = find_compiler(GetParam());
    if (!compiler.ok()) GTEST_SKIP() << "skipped: " << compiler.error().message;
    if (compiler.value().kind == CompilerKind::clang && !fs::exists(cuda_include_dir() + "/cuda_runtime.h")) {
      GTEST_SKIP() << "skipped: no cuda_runtime.h in " << cuda_include_dir();
    }
  }
  void TearDown() override {
    unsetenv("FULLWARP_CACHE_DIR");
    fs::remove_all(folder_);
  }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  fs::path folder_;
  CompileOptions options_;
};

TEST_P(RealCompilers, KernelsOfEveryShape) {
  const std::string path = write("shapes of kernels.cu", kSource);
  options_.instantiations = {"ns::scan<float, 128>", "hidden<int>"};
  const Result<Compiled> compiled = compile_to_ptx(path, options_);
  ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
  const std::string& ptx = compiled.value().ptx;
  EXPECT_THAT(ptx, HasSubstr(".entry plain("));
  EXPECT_THAT(ptx, HasSubstr(".entry _ZN2ns4scanIdLi4EEEvPKT_PS1_i("));
  EXPECT_THAT(ptx, HasSubstr(".entry _ZN2ns4scanIfLi128EEEvPKT_PS1_i("));
  EXPECT_THAT(ptx, HasSubstr("6hiddenIiEEvPT_("));
  EXPECT_THAT(ptx, HasSubstr("c_weights[36]"));
  EXPECT_THAT(ptx, HasSubstr("\"" + path + "\""));
  EXPECT_EQ(compiled.value().warnings, "");
}

TEST_P(RealCompilers, LaunchesThatAFormatterToreApart) {
  write("torn.h",
        "#pragma once\ntemplate <class T> __global__ void k(T* p) { p[threadIdx.x] = 1; }\n"
        "inline void start(float* p) { k << <1, 32 >> > (p); }\n");
  const std::string path = write(
      "torn.cu", "#include \"torn.h\"\nint main() { start(nullptr); k<int> << < 1, 32 >> >(nullptr); }\n");
  const Result<Compiled> compiled = compile_to_ptx(path, options_);
  ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
  EXPECT_THAT(compiled.value().ptx, HasSubstr(".entry _Z1kIfEvPT_("));
  EXPECT_THAT(compiled.value().ptx, HasSubstr(".entry _Z1kIiEvPT_("));
  EXPECT_THAT(compiled.value().ptx, HasSubstr("torn.h\""));
}

TEST_P(RealCompilers, ErrorsAreTheCompilersOwn) {
  const std::string path = write("bad.cu", "__global__ void k(float* p) { p[0] = undeclared; }\n");
  const Result<Compiled> compiled = compile_to_ptx(path, options_);
  ASSERT_FALSE(compiled.ok());
  EXPECT_THAT(compiled.error().message, HasSubstr("undeclared"));
  EXPECT_THAT(compiled.error().message, HasSubstr("bad.cu"));
}

TEST_P(RealCompilers, IncludesAndMacros) {
  fs::create_directories(folder_ / "inc");
  write("inc/size.h", "constexpr int kSize = N;\n");
  const std::string path =
      write("inc.cu", "#include \"size.h\"\n__global__ void k(int* p) { p[0] = kSize; }\n");
  options_.flags = {"-I", (folder_ / "inc").string(), "-DN=1234567"};
  const Result<Compiled> compiled = compile_to_ptx(path, options_);
  ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
  EXPECT_THAT(compiled.value().ptx, HasSubstr("1234567"));
}

INSTANTIATE_TEST_SUITE_P(All, RealCompilers, testing::Values("nvcc", "clang"));

TEST(RealPtxas, ReportsRegistersAndSharedMemory) {
  if (find_ptxas().empty()) GTEST_SKIP() << "skipped: no ptxas here";
  const std::string ptx =
      ".version 7.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<3>;\n.reg .b64 %rd<3>;\n.shared .align 4 .b8 "
      "s[512];\n"
      "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nst.shared.u32 [s+4], %r1;\nbar.sync 0;\n"
      "ld.volatile.shared.u32 %r2, [s+4];\nst.global.u32 [%rd1], %r2;\nret;\n}\n";
  const Result<Assembled> assembled = assemble(ptx, 80, false);
  ASSERT_TRUE(assembled.ok()) << assembled.error().to_string();
  const ResourceUsage& usage = assembled.value().usage.at("k");
  EXPECT_GT(usage.registers_per_thread, 0u);
  EXPECT_EQ(usage.shared_bytes, 512u);
  EXPECT_EQ(assembled.value().cubin.substr(1, 3), "ELF");
}

}  // namespace
}  // namespace fullwarp::input
