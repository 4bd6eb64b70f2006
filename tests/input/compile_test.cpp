// Calling compilers, with a stand-in compiler: a shell script that logs its arguments and writes what it is
// told. Real compilers are tested in real_compilers_test.cpp.
#include "input/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "input/compiler.h"
#include "input/process.h"
#include "input/ptx_cache.h"

namespace fullwarp::input {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Compile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::path(testing::TempDir()) /
        ("fullwarp_compile_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    setenv("FULLWARP_CACHE_DIR", (folder_ / "cache").c_str(), 1);
    write("k.cu", "__global__ void k() {}\n");
    write("q.h", "// a header\n");
    age("k.cu");
    age("q.h");
    options_.compiler = compiler("fake-nvcc", "echo \".file 1 \\\"" + path("k.cu") + "\\\"\" > \"$ptx\"");
  }
  void TearDown() override {
    unsetenv("FULLWARP_CACHE_DIR");
    fs::remove_all(folder_);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  void age(const std::string& name) const {  // the cache does not trust a file that is newer than the compile
    fs::last_write_time(folder_ / name, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  std::string text(const std::string& name) const { return read_file(path(name), 1 << 20).value(); }
  // A compiler that logs its arguments, makes a dependency file that names k.cu and q.h, and runs `body`.
  std::string compiler(const std::string& name, const std::string& body) const {
    write(name, "#!/bin/sh\necho \"$@\" >> \"" + path("log") +
                    "\"\nwhile [ $# -gt 0 ]; do\n"
                    "case $1 in -o) ptx=$2;; -MF) deps=$2;; *instantiations.cu) cp \"$1\" \"" +
                    path("wrapper") +
                    "\";; esac; shift; done\n"
                    "echo \"out.ptx : " +
                    path("k.cu") + " \\\\\" > \"$deps\"; echo \"   " + path("q.h") + "\" >> \"$deps\"\n" +
                    body + "\n");
    fs::permissions(folder_ / name, fs::perms::owner_all);
    return path(name);
  }
  int runs() const {
    std::ifstream log(folder_ / "log");
    return static_cast<int>(std::count(std::istreambuf_iterator<char>(log), {}, '\n'));
  }

  fs::path folder_;
  CompileOptions options_;
};

TEST_F(Compile, PutsTheUsersSpellingBack) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  const Result<Compiled> compiled = compile_to_ptx("k.cu", options_);
  fs::current_path(before);
  ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
  EXPECT_EQ(compiled.value().ptx, ".file 1 \"k.cu\"\n");
  EXPECT_EQ(compiled.value().sm, 90u);
  EXPECT_FALSE(compiled.value().from_cache);
}

TEST_F(Compile, PassesFlagsThrough) {
  options_.flags = {"-DN=3", "-I", "/x y"};
  ASSERT_TRUE(compile_to_ptx(path("k.cu"), options_).ok());
  EXPECT_THAT(text("log"), HasSubstr("-ptx -lineinfo -arch=sm_90 -std=c++17"));
  EXPECT_THAT(text("log"), HasSubstr("-DN=3 -I /x y " + path("k.cu")));
}

TEST_F(Compile, AnUnchangedFileIsCompiledOnce) {
  ASSERT_TRUE(compile_to_ptx(path("k.cu"), options_).ok());
  const Result<Compiled> again = compile_to_ptx(path("k.cu"), options_);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again.value().from_cache);
  EXPECT_EQ(again.value().ptx, ".file 1 \"" + path("k.cu") + "\"\n");
  EXPECT_EQ(again.value().sm, 90u);
  EXPECT_EQ(runs(), 1);
}

TEST_F(Compile, ChangesAreSeen) {
  ASSERT_TRUE(compile_to_ptx(path("k.cu"), options_).ok());
  write("q.h", "// another header\n");
  age("q.h");
  ASSERT_FALSE(compile_to_ptx(path("k.cu"), options_).value().from_cache);
  options_.flags = {"-DA"};
  ASSERT_FALSE(compile_to_ptx(path("k.cu"), options_).value().from_cache);
  options_.sm = 80;
  ASSERT_FALSE(compile_to_ptx(path("k.cu"), options_).value().from_cache);
  write("k.cu", "__global__ void k2() {}\n");
  age("k.cu");
  ASSERT_FALSE(compile_to_ptx(path("k.cu"), options_).value().from_cache);
  options_.instantiations = {"t<1>"};
  ASSERT_FALSE(compile_to_ptx(path("k.cu"), options_).value().from_cache);
  EXPECT_EQ(runs(), 6);
}

TEST_F(Compile, AFileChangedWhileCompilingIsNotCached) {
  options_.compiler = compiler("fake-nvcc", "echo ptx > \"$ptx\"; echo changed >> \"" + path("q.h") + "\"");
  ASSERT_TRUE(compile_to_ptx(path("k.cu"), options_).ok());
  ASSERT_FALSE(compile_to_ptx(path("k.cu"), options_).value().from_cache);
}

TEST_F(Compile, DamagedEntriesAreNotUsed) {
  ASSERT_TRUE(compile_to_ptx(path("k.cu"), options_).ok());
  const fs::path entry = fs::directory_iterator(folder_ / "cache")->path();
  const std::string whole = read_file(entry, 1 << 20).value();
  for (size_t length = 0; length < whole.size(); ++length) {
    std::ofstream(entry) << whole.substr(0, length);
    CacheKey key;
    EXPECT_FALSE(PtxCache((folder_ / "cache").string()).find(key));
  }
  std::ofstream(entry) << whole.substr(0, whole.size() - 1);
  EXPECT_FALSE(compile_to_ptx(path("k.cu"), options_).value().from_cache);
  EXPECT_TRUE(compile_to_ptx(path("k.cu"), options_).value().from_cache);
}

TEST_F(Compile, CompilerMessagesStandVerbatim) {
  options_.compiler = compiler("fake-nvcc", "echo 'k.cu(1): error: no such thing' >&2; exit 2");
  const Result<Compiled> compiled = compile_to_ptx(path("k.cu"), options_);
  ASSERT_FALSE(compiled.ok());
  EXPECT_EQ(compiled.error().message, "fake-nvcc cannot compile this file:\nk.cu(1): error: no such thing");
  EXPECT_EQ(compiled.error().file, path("k.cu"));
}

TEST_F(Compile, AnOlderArchitectureIsTried) {
  options_.compiler =
      compiler("fake-clang", "case $(tail -1 \"" + path("log") +
                                 "\") in *sm_9*|*sm_8[79]*) echo 'error: unsupported CUDA gpu "
                                 "architecture: sm_90' >&2; exit 1;; esac; echo ptx > \"$ptx\"");
  const Result<Compiled> compiled = compile_to_ptx(path("k.cu"), options_);
  ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
  EXPECT_EQ(compiled.value().sm, 86u);
  EXPECT_EQ(runs(), 4);  // 90, 89, 87, 86
  EXPECT_THAT(text("log"), HasSubstr("--cuda-device-only -S -nocudainc -nocudalib"));
}

TEST_F(Compile, InstantiationsAreNamedInASecondFile) {
  options_.instantiations = {"ns::scan<float, 128>", "(anonymous namespace)::k<1>"};
  ASSERT_TRUE(compile_to_ptx(path("k.cu"), options_).ok());
  EXPECT_EQ(text("wrapper"), "#include \"" + path("k.cu") +
                                 "\"\n"
                                 "namespace fullwarp_instantiations {\n"
                                 "auto* kernel_0 = &ns::scan<float, 128>;\n"
                                 "auto* kernel_1 = &k<1>;\n"
                                 "}\n");
}

TEST_F(Compile, RefusedInstantiationsAreLeftOut) {
  // Complains of line 4 in nvcc's form, then of the line that is then 3 in clang's, then of nothing.
  options_.compiler =
      compiler("fake-nvcc", "case $(wc -l < \"" + path("log") +
                                "\") in 1) echo '/tmp/x/instantiations.cu(4): error: bad one' >&2; exit "
                                "2;; 2) echo '/tmp/x/instantiations.cu:3:9: error: bad two' >&2; exit "
                                "1;; esac; echo ptx > \"$ptx\"");
  options_.instantiations = {"two<1>", "one<1>", "good<1>"};
  for (const bool again : {false, true}) {
    const Result<Compiled> compiled = compile_to_ptx(path("k.cu"), options_);
    ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
    EXPECT_EQ(compiled.value().from_cache, again);
    EXPECT_EQ(compiled.value().refused,
              "/tmp/x/instantiations.cu(4): error: bad one\n/tmp/x/instantiations.cu:3:9: error: bad two\n");
    EXPECT_EQ(compiled.value().warnings, "");
    EXPECT_EQ(compiled.value().sm, 90u);
  }
  EXPECT_THAT(text("wrapper"), HasSubstr("&good<1>"));
  EXPECT_THAT(text("wrapper"), Not(HasSubstr("one<1>")));
}

TEST_F(Compile, PtxIsTakenAsItIs) {
  write("k.ptx", ".version 8.0\n");
  const Result<Compiled> compiled = compile_to_ptx(path("k.ptx"), options_);
  ASSERT_TRUE(compiled.ok());
  EXPECT_EQ(compiled.value().ptx, ".version 8.0\n");
  EXPECT_EQ(runs(), 0);
}

TEST_F(Compile, MissingThings) {
  EXPECT_EQ(compile_to_ptx(path("none.cu"), options_).error().message, "there is no such file");
  options_.compiler = "/no/such/compiler";
  EXPECT_EQ(compile_to_ptx(path("k.cu"), options_).error().message,
            "there is no compiler `/no/such/compiler`");
}

TEST_F(Compile, TemporaryFilesGoAway) {
  write("tmp/x", "");
  setenv("TMPDIR", path("tmp").c_str(), 1);
  options_.instantiations = {"k<1>"};
  ASSERT_TRUE(compile_to_ptx(path("k.cu"), options_).ok());
  options_.compiler = compiler("fake-nvcc", "exit 1");
  ASSERT_FALSE(compile_to_ptx(path("k.cu"), options_).ok());
  unsetenv("TMPDIR");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "tmp"), {}), 1);
}

TEST_F(Compile, TheCacheStaysBounded) {
  const PtxCache cache((folder_ / "small").string(), 10000);
  for (int i = 0; i < 50; ++i) {
    CacheKey key;
    key.add(std::to_string(i));
    cache.store(key, {{}, "", std::string(1000, 'x')}, PtxCache::now_ns());
  }
  uint64_t total = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "small")) total += entry.file_size();
  EXPECT_LE(total, 10000u);
  EXPECT_GE(total, 5000u);
}

TEST_F(Compile, FlagsComeFromTheCompileCommands) {
  write("build/flags.rsp", "-I\"inc dir\" -DQ");
  write("build/compile_commands.json", R"([{"directory": ")" + path("build") +
                                           R"(", "file": "../other.cu", "command": "nvcc -DNO ../other.cu"},
            {"directory": ")" + path("build") +
                                           R"(", "file": "../k.cu",
             "command": "/usr/bin/nvcc -forward-unknown-to-host-compiler -DA=\\\"s\\\" -I../inc -isystem=/sys --options-file flags.rsp -O3 -std=c++20 --generate-code=arch=compute_80,code=[sm_80] -MD -MT x.o -x cu -c ../k.cu -o x.o"}])");
  const Result<std::vector<std::string>> flags = flags_from_compile_commands(path("k.cu"), "");
  ASSERT_TRUE(flags.ok()) << flags.error().to_string();
  EXPECT_EQ(flags.value(), (std::vector<std::string>{"-DA=\"s\"", "-I", path("inc"), "-isystem", "/sys", "-I",
                                                     path("build/inc dir"), "-DQ", "-std=c++20"}));
}

TEST_F(Compile, CompileCommandsOfAFolder) {
  write("k.cu", "");
  write("elsewhere/compile_commands.json",
        R"([{"directory": ")" + path("") + R"(", "file": "k.cu", "arguments": ["nvcc", "-DN=3", "k.cu"]}])");
  const Result<std::vector<std::string>> flags = flags_from_compile_commands(path("k.cu"), path("elsewhere"));
  ASSERT_TRUE(flags.ok()) << flags.error().to_string();
  EXPECT_EQ(flags.value(), std::vector<std::string>{"-DN=3"});
}

TEST_F(Compile, BadCompileCommands) {
  for (const char* bad :
       {"", "{", "{}", "[1, {}, {\"file\": 3}]", "[{\"file\": \"k.cu\", \"arguments\": [1, 2]}]"}) {
    write("build/compile_commands.json", bad);
    const Result<std::vector<std::string>> flags = flags_from_compile_commands(path("k.cu"), "");
    ASSERT_TRUE(flags.ok());
    EXPECT_TRUE(flags.value().empty());
  }
  const Result<std::vector<std::string>> nowhere = flags_from_compile_commands(path("k.cu"), path("nowhere"));
  EXPECT_FALSE(nowhere.ok());
  write("c.json", "{}");
  EXPECT_EQ(flags_from_compile_commands(path("k.cu"), path("c.json")).error().message,
            "this is not a compile_commands.json: an array of commands is expected");
}

TEST(TranslateFlags, NvccFlagsForClang) {
  EXPECT_EQ(translate_flags(CompilerKind::clang, {"--expt-relaxed-constexpr", "-DX", "-use_fast_math",
                                                  "-Xptxas", "-v", "-lineinfo", "-Xcompiler", "-fopenmp",
                                                  "-arch=sm_80", "-maxrregcount=32", "-fmad=false"}),
            (std::vector<std::string>{"-DX", "-ffast-math", "-fcuda-flush-denormals-to-zero", "-fopenmp",
                                      "--cuda-gpu-arch=sm_80", "-ffp-contract=off"}));
}

TEST(Ptxas, ReportIsRead) {
  // As CUDA 13.0's ptxas -v prints it; the second kernel spills, a device function is listed in between.
  const auto usage = parse_ptxas_report(
      "ptxas info    : 0 bytes gmem, 36 bytes cmem[3]\n"
      "ptxas info    : Compiling entry function '_Z1av' for 'sm_90'\n"
      "ptxas info    : Function properties for _Z1av\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 10 registers, used 1 barriers, 4096 bytes smem, 352 bytes cmem[0]\n"
      "ptxas info    : Compile time = 25.969 ms\n"
      "ptxas info    : Compiling entry function '_Z1bPf' for 'sm_90'\n"
      "ptxas info    : Function properties for _Z1bPf\n"
      "    128 bytes stack frame, 20 bytes spill stores, 24 bytes spill loads\n"
      "ptxas info    : Function properties for _Z6helperv\n"
      "    8 bytes stack frame, 1 bytes spill stores, 1 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 0 barriers, 128 bytes cumulative stack size\n");
  ASSERT_EQ(usage.size(), 2u);
  EXPECT_EQ(usage.at("_Z1av").registers_per_thread, 10u);
  EXPECT_EQ(usage.at("_Z1av").shared_bytes, 4096u);
  EXPECT_EQ(usage.at("_Z1bPf").registers_per_thread, 255u);
  EXPECT_EQ(usage.at("_Z1bPf").stack_bytes, 128u);
  EXPECT_EQ(usage.at("_Z1bPf").spill_store_bytes, 20u);
  EXPECT_EQ(usage.at("_Z1bPf").spill_load_bytes, 24u);
  EXPECT_TRUE(parse_ptxas_report("Used registers\n bytes stack frame").empty());
}

TEST(Process, CapturesBothStreamsAndTheExitCode) {
  const Result<ProcessResult> run =
      run_process({"/bin/sh", "-c", "echo out; echo err >&2; head -c 300000 /dev/zero; exit 3"});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.value().out.size(), 300004u);
  EXPECT_EQ(run.value().err, "err\n");
  EXPECT_EQ(run.value().exit_code, 3);
  EXPECT_EQ(run_process({"/bin/sh", "-c", "kill -9 $$"}).value().exit_code, 137);
  EXPECT_EQ(run_process({"/no/such/program"}).error().message,
            "cannot run /no/such/program: No such file or directory");
}

// A folder of CCCL's (Thrust, CUB, libcu++) goes before fullwarp's headers, which have a little of libcu++ too;
// any other folder behind them: a toolkit's cuda_runtime.h is not for clang without the toolkit.
TEST_F(Compile, ClangSearchesACcclBeforeOurHeaders) {
  fs::create_directories(folder_ / "cccl/cuda/std");
  fs::create_directories(folder_ / "other");
  write("cccl/cuda/std/version", "");
  CompileJob job;
  job.source = path("k.cu");
  job.sm = 80;
  job.flags = {"-I" + path("other"), "-I", path("cccl")};
  const std::vector<std::string> command = compile_command({CompilerKind::clang, "clang++"}, job);
  const auto first = [&](const std::string& dir) {
    const auto at = std::find_if(command.begin(), command.end(),
                                 [&](const std::string& word) { return word == dir || word == "-I" + dir; });
    return at - command.begin();
  };
  EXPECT_LT(first(path("cccl")), first(cuda_include_dir()));
  EXPECT_LT(first(cuda_include_dir()), first(path("other")));
}

}  // namespace
}  // namespace fullwarp::input
