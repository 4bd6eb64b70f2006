// Launches against kernels: names as users write them, the bytes arguments become, and the messages.
#include "input/resolve.h"

#include <gtest/gtest.h>

#include <cstring>

#include "input/source_kernels.h"
#include "ptx/parser.h"

namespace fullwarp::input {
namespace {

// The entries nvcc 13 makes of:
//   namespace ns { template <class T, int N> __global__ void scan(const T* in, T* out, int n); }  float,
//   double namespace { __global__ void hidden(float* p, unsigned n, double d, bool b, char c, size_t z); }
//   extern "C" __global__ void plain(float* p, float x, Params s, __half h);
//   template <unsigned N, bool B, class F> __global__ void apply(F f, float (*rows)[N]);
//   __global__ void over(int* p);  __global__ void over(float* p);
constexpr const char* kPtx = R"(.version 9.0
.target sm_90
.address_size 64
.const .align 4 .b8 c_weights[36];
.const .align 4 .b8 _ZN2ns2cnE[16];
.global .align 4 .b8 _ZN31_INTERNAL_89b8bf71_4_t_cu_plain2ns2dvE[12];
.visible .entry _ZN2ns4scanIfLi128EEEvPKT_PS1_i(.param .u64 a, .param .u64 b, .param .u32 c) { ret; }
.visible .entry _ZN2ns4scanIdLi128EEEvPKT_PS1_i(.param .u64 a, .param .u64 b, .param .u32 c) { ret; }
.entry _ZN33_GLOBAL__N__89b8bf71_4_t_cu_plain6hiddenEPfjdbcm(.param .u64 a, .param .u32 b, .param .f64 c,
  .param .u8 d, .param .u8 e, .param .u64 f) { ret; }
.visible .entry plain(.param .u64 a, .param .f32 b, .param .align 8 .b8 c[16], .param .align 2 .b8 d[2]) { ret; }
.visible .entry _Z5applyILj4ELb1E2FnEvT1_PAT__f(.param .align 1 .b8 a[1], .param .u64 b) .reqntid 64 { ret; }
.visible .entry _Z4overPi(.param .u64 a) { ret; }
.visible .entry _Z4overPf(.param .u64 a) { ret; }
)";
constexpr const char* kSource = R"(
namespace ns { template <class T, int N> __global__ void /* why */ scan(const T* __restrict__ in, T* out, int n = 3) {} }
extern "C" __global__ void __launch_bounds__(256, (2)) plain(float* p, float x, Params s, __half h) {}
namespace { __global__ static void hidden(float* p, unsigned n, double, bool, char c, size_t z); }
)";

class Resolve : public testing::Test {
 protected:
  void SetUp() override {
    Result<ptx::Module> module = ptx::parse(kPtx, "t.ptx");
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    module_ = std::move(*module);
    kernels_ = kernels_of(module_, kSource);
    ASSERT_EQ(kernels_.size(), 7u);
    memory_.buffer = [this](const BufferArgument& buffer, const std::string& label) -> Result<BufferAddress> {
      labels_.push_back(label);
      if (buffer.name == "in") return BufferAddress{0x1000, ElementType::f32};
      if (buffer.name == "out") return BufferAddress{0x2000, ElementType::f64};
      return BufferAddress{0x3000, buffer.spec ? buffer.spec->type : ElementType::u8};
    };
    memory_.pointer_array = [this](std::span<const uint64_t> addresses,
                                   const std::string&) -> Result<uint64_t> {
      table_.assign(addresses.begin(), addresses.end());
      return 0x4000;
    };
  }
  std::string found(std::string_view written) const {
    const Result<size_t> index = find_kernel(kernels_, written);
    return index.ok() ? kernels_[index.value()].name : index.error().message;
  }
  Result<std::vector<std::byte>> pack(std::string_view kernel, const std::string& arguments) {
    const Result<Script> script = parse_launches("k<<<1, 1>>>(" + arguments + ")", "t");
    EXPECT_TRUE(script.ok()) << arguments;
    return pack_arguments(kernels_[find_kernel(kernels_, kernel).value()],
                          std::get<KernelLaunch>(script.value()[0].value), memory_);
  }
  std::string pack_error(std::string_view kernel, const std::string& arguments) {
    const auto bytes = pack(kernel, arguments);
    return bytes.ok() ? "no error" : bytes.error().message;
  }
  template <class T>
  static T at(const std::vector<std::byte>& bytes, size_t offset) {
    T value{};
    EXPECT_LE(offset + sizeof value, bytes.size());
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }

  ptx::Module module_;
  std::vector<KernelInfo> kernels_;
  ArgumentMemory memory_;
  std::vector<std::string> labels_;
  std::vector<uint64_t> table_;
};

TEST_F(Resolve, NamesAsUsersWriteThem) {
  EXPECT_EQ(found("ns::scan<float, 128>"), "ns::scan<float, 128>");
  EXPECT_EQ(found("::ns::scan< double,128u >"), "ns::scan<double, 128>");
  EXPECT_EQ(found("scan<float>"), "ns::scan<float, 128>");
  EXPECT_EQ(found("scan<float, (int)128>"), "ns::scan<float, 128>");
  EXPECT_EQ(found("hidden"), "(anonymous namespace)::hidden");
  EXPECT_EQ(found("(anonymous namespace)::hidden"), "(anonymous namespace)::hidden");
  EXPECT_EQ(found("plain"), "plain");
  EXPECT_EQ(found("apply"), "apply<4u, true, Fn>");
  EXPECT_EQ(found("apply<4, (bool)1>"), "apply<4u, true, Fn>");
  EXPECT_EQ(found("_ZN2ns4scanIfLi128EEEvPKT_PS1_i"), "ns::scan<float, 128>");
  EXPECT_EQ(find_kernel(kernels_, "over(int*)").value(), 5u);
  EXPECT_EQ(find_kernel(kernels_, "over(float *)").value(), 6u);
  EXPECT_EQ(found("::scan<float>"), "there is no kernel `::scan<float>` in this file");
}

// template <class S, bool B> __global__ void run(float*); of ns::Shape<64, 8>, of other::Shape<64, 8>, and of
// ns::Shape<8, 8>.
TEST(ResolveTemplates, NamespacesOfArgumentsMayBeLeftOut) {
  const Result<ptx::Module> module = ptx::parse(R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry _ZN2ns3runINS_5ShapeILi64ELi8EEELb1EEEvPf(.param .u64 a) { ret; }
.visible .entry _ZN2ns3runIN5other5ShapeILi64ELi8EEELb0EEEvPf(.param .u64 a) { ret; }
.visible .entry _ZN2ns3runINS_5ShapeILi8ELi8EEELb1EEEvPf(.param .u64 a) { ret; }
)",
                                                "t.ptx");
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const std::vector<KernelInfo> kernels = kernels_of(*module, "");
  EXPECT_EQ(find_kernel(kernels, "run<Shape<64, 8>, true>").value(), 0u);
  EXPECT_EQ(find_kernel(kernels, "run<other::Shape<64, 8>>").value(), 1u);
  EXPECT_EQ(find_kernel(kernels, "ns::run<Shape<8, 8> >").value(), 2u);
  EXPECT_EQ(find_kernel(kernels, "run<Shape<64, 8>>").error().message, "`run<Shape<64, 8>>` names 2 kernels");
  EXPECT_FALSE(find_kernel(kernels, "run<hape<8, 8>>").ok());
}

TEST_F(Resolve, WrongNamesListWhatThereIs) {
  const Result<size_t> wrong = find_kernel(kernels_, "plane");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message, "there is no kernel `plane` in this file");
  EXPECT_EQ(
      wrong.error().hint,
      "did you mean `plain`? the kernels are:\n"
      "    ns::scan<float, 128>(const float* in, float* out, int n)\n"
      "    ns::scan<double, 128>(const double* in, double* out, int n)\n"
      "    (anonymous namespace)::hidden(float* p, unsigned int n, double, bool, char c, unsigned long z)\n"
      "    plain(float* p, float x, Params s, __half h)\n"
      "    apply<4u, true, Fn>(Fn, float (*) [4u])\n"
      "    over(int*)\n"
      "    over(float*)");
  const Result<size_t> both = find_kernel(kernels_, "ns::scan");
  ASSERT_FALSE(both.ok());
  EXPECT_EQ(both.error().to_string(),
            "error: `ns::scan` names 2 kernels\n  hint: write more of the name:\n"
            "    ns::scan<float, 128>(const float* in, float* out, int n)\n"
            "    ns::scan<double, 128>(const double* in, double* out, int n)");
  EXPECT_EQ(find_kernel({}, "k").error().hint, "the file has no kernels");
}

TEST_F(Resolve, Symbols) {
  EXPECT_EQ(find_symbol(module_, "c_weights"), 0);
  EXPECT_EQ(find_symbol(module_, "ns::cn"), 1);
  EXPECT_EQ(find_symbol(module_, "cn"), 1);
  EXPECT_EQ(find_symbol(module_, "ns::dv"), 2);
  EXPECT_EQ(find_symbol(module_, "weights"), -1);
}

TEST_F(Resolve, ArgumentsTakeTheParametersTypes) {
  // hidden(float* 0, unsigned 8, double 16, bool 24, char 25, size_t 32)
  const auto bytes = pack("hidden", "in + 3, 4294967295, 2, true, -1, 7");
  ASSERT_TRUE(bytes.ok()) << bytes.error().to_string();
  ASSERT_EQ(bytes.value().size(), 40u);
  EXPECT_EQ(at<uint64_t>(bytes.value(), 0), 0x100cu);
  EXPECT_EQ(at<uint32_t>(bytes.value(), 8), 0xffffffffu);
  EXPECT_EQ(at<double>(bytes.value(), 16), 2.0);
  EXPECT_EQ(at<uint8_t>(bytes.value(), 24), 1);
  EXPECT_EQ(at<uint8_t>(bytes.value(), 25), 0xff);
  EXPECT_EQ(at<uint64_t>(bytes.value(), 32), 7u);
  EXPECT_EQ(labels_, std::vector<std::string>{"p"});
}

TEST_F(Resolve, StructsHalvesAndPointerArrays) {
  // plain(float* 0, float 8, Params{float, int, float*} 16, __half 32)
  const auto bytes = pack("plain", "ptr[]{in, out - 1, 0}, 3, {f32 1.5, i32 -2, in}, 1.5");
  ASSERT_TRUE(bytes.ok()) << bytes.error().to_string();
  ASSERT_EQ(bytes.value().size(), 34u);
  EXPECT_EQ(at<uint64_t>(bytes.value(), 0), 0x4000u);
  EXPECT_EQ(table_, (std::vector<uint64_t>{0x1000, 0x1ff8, 0}));
  EXPECT_EQ(at<float>(bytes.value(), 8), 3.0f);
  EXPECT_EQ(at<float>(bytes.value(), 16), 1.5f);
  EXPECT_EQ(at<int32_t>(bytes.value(), 20), -2);
  EXPECT_EQ(at<uint64_t>(bytes.value(), 24), 0x1000u);
  EXPECT_EQ(at<uint16_t>(bytes.value(), 32), 0x3e00);  // 1.5 in f16
  EXPECT_EQ(labels_.back(), "s.3");
}

TEST_F(Resolve, StructMembersAreAlignedAsInC) {
  // {char, double, short} would be 24 bytes; {double, char} 16
  EXPECT_EQ(pack_error("plain", "in, 0, {i8 1, f64 2.0, i16 3}, 0"),
            "parameter `s` (Params) of plain has 16 bytes, the argument 24");
  EXPECT_TRUE(pack("plain", "in, 0, {f64 2.0, i8 1}, 0").ok());
  EXPECT_TRUE(pack("plain", "in, 0, {u32 1, {u8 1, u16 2}, {in}}, 0").ok());
}

TEST_F(Resolve, WrongArguments) {
  EXPECT_EQ(pack_error("plain", "in"), "plain takes 4 arguments, the launch gives 1");
  EXPECT_EQ(pack_error("scan<float>", "1, in, 2"),
            "parameter `in` (const float*) of ns::scan<float, 128> takes a pointer, not a number");
  EXPECT_EQ(pack_error("scan<float>", "in, in, in"),
            "parameter `n` (int) of ns::scan<float, 128> takes a number, not a buffer");
  EXPECT_EQ(
      pack_error("scan<float>", "in, in, 2.5"),
      "parameter `n` (int) of ns::scan<float, 128> takes an integer, not a number with a decimal point");
  EXPECT_EQ(pack_error("scan<float>", "in, in, 1 << 32"),
            "parameter `n` (int) of ns::scan<float, 128> 4294967296 does not fit in its 32 bits");
  EXPECT_EQ(pack_error("plain", "in, 1, 3, 0"),
            "parameter `s` (Params) of plain takes a struct of 16 bytes, not a number");
  EXPECT_EQ(pack_error("plain", "in, 1, {3, in}, 0"),
            "parameter `s` (Params) of plain a number in a struct needs its type");
  EXPECT_TRUE(pack("scan<float>", "nullptr, in, 0").ok());
  EXPECT_EQ(pack("scan<float>", "in, in, in").error().column, 21u);
}

TEST_F(Resolve, ExamplesCanBeLaunched) {
  EXPECT_EQ(example_launch(kernels_[0]),
            "ns::scan<float, 128><<<4, 256>>>(f32[1024]:uniform, f32[1024], 1024)");
  EXPECT_EQ(example_launch(kernels_[2]),
            "(anonymous namespace)::hidden<<<4, 256>>>(f32[1024], 1024, 1.0, true, 1, 1024)");
  EXPECT_EQ(example_launch(kernels_[3]), "plain<<<4, 256>>>(f32[1024], 1.0, {u64 0, u64 0}, 1.0)");
  EXPECT_EQ(example_launch(kernels_[4]), "apply<4u, true, Fn><<<4, 64>>>({u8 0}, f32[1024])");
  for (const KernelInfo& kernel : kernels_) {
    const Result<Script> script = parse_launches(example_launch(kernel), "t");
    ASSERT_TRUE(script.ok()) << example_launch(kernel) << script.error().to_string();
    const auto& launch = std::get<KernelLaunch>(script.value()[0].value);
    if (kernel.parts.parts.back().base != "over") {
      EXPECT_TRUE(find_kernel(kernels_, launch.kernel).ok()) << launch.kernel;
    }
    EXPECT_TRUE(pack_arguments(kernel, launch, memory_).ok()) << example_launch(kernel);
  }
  EXPECT_EQ(not_launched(kernels_[0], "k.cu").to_string(),
            "k.cu: error: no launch of kernel ns::scan<float, 128>(const float* in, float* out, int n)\n"
            "  hint: say how to run it, in a comment of the source or with --launch:\n"
            "    // fullwarp: in = f32[1024]:uniform;  out = f32[1024];  n = 1024\n"
            "    // fullwarp: ns::scan<float, 128><<<4, 256>>>(in, out, n)");
  // Parameters with no name, or one that is a word of the statements: in place.
  EXPECT_EQ(example_statements(kernels_[2]), std::vector<std::string>{example_launch(kernels_[2])});
  for (const KernelInfo& kernel : kernels_) {
    std::string text;
    for (const std::string& line : example_statements(kernel)) text += line + "\n";
    EXPECT_TRUE(parse_launches(text, "t").ok()) << text;
  }
  EXPECT_EQ(not_launched(kernels_[0], "k.cu", 3).message,
            "no launch of kernel ns::scan<float, 128>(const float* in, float* out, int n) (and 3 more "
            "instantiations)");
}

TEST(Examples, KnowTheNamesOfADeclaredAndDefinedKernel) {
  const Result<ptx::Module> module = ptx::parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry _Z3addPKdPdi(.param .u64 a, .param .u64 b, .param .u32 c) { ret; }\n",
      "t.ptx");
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const std::string declared = "void __global__ add(const double *x, double *z, const int N);\n";
  const char* defined = "void __global__ add(const double *x, double *z, const int N) {}\n";
  const char* overload = "void __global__ add(const float *u, float *v, int w) {}\n";
  EXPECT_EQ(kernels_of(*module, declared + defined)[0].signature, "add(const double* x, double* z, int N)");
  EXPECT_EQ(kernels_of(*module, declared + defined + overload)[0].signature,
            "add(const double*, double*, int)");
}

TEST(Examples, TellPointersFromLengths) {
  // As Numba and Triton write it: no types, no names. a is an address, b a bound and a factor, c an offset
  // moved along in a loop, d goes to a function; nothing reads e.
  const Result<ptx::Module> module = ptx::parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n.func f(.param .b64 x) { ret; }\n"
      ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u64 e) {\n"
      ".reg .b64 %r<9>; .reg .pred %p; .reg .b32 %i; mov.u32 %i, %tid.x; cvt.u64.u32 %r1, %i;\n"
      "ld.param.u64 %r2, [a]; ld.param.u64 %r3, [b]; ld.param.u64 %r4, [c]; ld.param.u64 %r5, [d];\n"
      "cvta.to.global.u64 %r2, %r2; mul.lo.s64 %r1, %r1, %r3; mad.lo.s64 %r6, %r1, %r3, %r2;\n"
      "setp.lt.u64 %p, %r1, %r3; @%p bra end; loop: ld.global.u32 %i, [%r7+4]; st.global.u32 [%r6], %i;\n"
      "add.s64 %r7, %r4, 8; add.s64 %r4, %r7, 4; @%p bra loop;\n"
      "{ .param .b64 q; st.param.b64 [q], %r5; call f, (q); } end: ret; }\n",
      "t.ptx");
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  EXPECT_EQ(example_launch(kernels_of(*module)[0]),
            "k<<<4, 256>>>(f32[1024], 1024, f32[1024], f32[1024], nullptr)");
}

TEST(Examples, FollowTheKernelsBody) {
  // A kernel that asks for threadIdx.y gets blocks of two dimensions, one with extern __shared__ memory some
  // bytes.
  const Result<ptx::Module> module = ptx::parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n.extern .shared .align 4 .b8 buffer[];\n"
      ".visible .entry k(.param .u64 a) { .reg .b32 %r; .reg .b64 %d; mov.u32 %r, %tid.y; mov.u32 %r, buffer;\n"
      "ld.param.u64 %d, [a]; st.global.u32 [%d], %r; ret; }\n",
      "t.ptx");
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  EXPECT_EQ(example_launch(kernels_of(*module)[0]), "k<<<(4, 4), (16, 16), 1024>>>(f32[1024])");
  // The definition's names count where a declaration has none.
  const std::vector<KernelInfo> kernels = kernels_of(
      *module, "extern \"C\" __global__ void k(float*);\nextern \"C\" __global__ void k(float* data) {}\n");
  EXPECT_EQ(kernels[0].signature, "k(float* data)");
}

TEST(Examples, AFileOfTemplatesNamesThem) {
  const Error error = no_kernels("t.cu", "template <int N> __global__ void sum(float* p) {}\n");
  EXPECT_EQ(error.message, "there is no kernel to run");
  EXPECT_NE(error.hint.find("nothing in the file instantiates `sum`"), std::string::npos) << error.hint;
}

TEST(CppNames, TypesHaveOneSpelling) {
  const auto same = [](std::string_view a, std::string_view b) {
    EXPECT_EQ(canonical_type(a), canonical_type(b));
  };
  same("const float*", "float const*");
  same("const  float *", "float const*");
  same("unsigned", "unsigned int");
  same("long unsigned int", "unsigned long");
  same("std::uint32_t", "unsigned int");
  same("size_t", "unsigned long");
  same("long long int", "long long");
  same("half", "__half");
  same("std::vector<const int*>", "vector<int const*>");
  same("128ull", "128");
  same("(Mode)3", "3");
  same("(bool)0", "false");
  same("-3l", "-3");
  same("float (*) [4u]", "float(*)[4]");
  same("struct P", "P");
  EXPECT_NE(canonical_type("float*"), canonical_type("float const*"));
  EXPECT_NE(canonical_type("int"), canonical_type("unsigned int"));
  EXPECT_NE(canonical_type("a::T"), canonical_type("b::T"));
}

TEST(CppNames, HostileNames) {
  // 250 characters that stand for 400 million: it stays mangled
  std::string mangled = "_Z1f1aIiE";
  const auto reference = [](int i) {
    return "S" + std::string(1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i]) + "_";
  };
  for (int k = 0; k < 24; ++k) mangled += "S_I" + reference(k) + reference(k) + "E";
  EXPECT_EQ(demangle(mangled), mangled);
  for (const std::string open : {"<", "(", "a<", "::", "(a)1", "-", "a<b,", "[{", ">"}) {
    std::string text;
    for (int i = 0; i < 20000; ++i) text += open;
    (void)parse_function_name(text);
    (void)canonical_type(text);
    (void)kernels_in_source("__global__ k" + text);
  }
}

TEST(SourceKernels, ParametersOfManyForms) {
  const std::vector<SourceKernel> kernels = kernels_in_source(
      "// __global__ void no(int a);\n"
      "template <class T>\n"
      "__global__ void __launch_bounds__(128) k(const T* __restrict__ in, float (&tile)[4], int a[3],\n"
      "    std::pair<int, T> both, unsigned, ns::Type, void (*call)(int), T value = T(1, 2)) { }\n"
      "const char* text = \"__global__ void no(int b)\";\n"
      "void __global__ second() {}\n");
  ASSERT_EQ(kernels.size(), 2u);
  std::string names;
  for (const SourceParameter& parameter : kernels[0].parameters) names += parameter.name + "|";
  EXPECT_EQ(names, "in|tile|a|both|||call|value|");
  EXPECT_EQ(kernels[0].parameters[0].type, "const T*");
  EXPECT_EQ(kernels[0].line, 3u);
  EXPECT_EQ(kernels[0].column, 40u);
  EXPECT_EQ(kernels[1].name, "second");
  EXPECT_TRUE(kernels[1].parameters.empty());
}

}  // namespace
}  // namespace fullwarp::input
