// What launch statements mean: each test is one form of docs/launches.md.
#include "input/launch.h"

#include <gtest/gtest.h>

namespace fullwarp::input {
namespace {

Script parse(std::string_view text) {
  Result<Script> script = parse_launches(text, "test");
  EXPECT_TRUE(script.ok()) << script.error().to_string();
  return script.ok() ? std::move(*script) : Script{};
}

template <class T>
T only(std::string_view text) {
  Script script = parse(text);
  EXPECT_EQ(script.size(), 1u);
  if (script.size() != 1 || !std::holds_alternative<T>(script[0].value)) {
    ADD_FAILURE() << "not the statement expected: " << text;
    return T{};
  }
  return std::get<T>(script[0].value);
}

const ScalarArgument& scalar(const Argument& argument) { return std::get<ScalarArgument>(argument.value); }
const BufferArgument& buffer(const Argument& argument) { return std::get<BufferArgument>(argument.value); }

int64_t integer_of(std::string_view expression) {
  const auto launch = only<KernelLaunch>("k<<<1, 1>>>(" + std::string(expression) + ")");
  EXPECT_FALSE(scalar(launch.arguments.at(0)).is_float);
  return scalar(launch.arguments.at(0)).integer;
}

TEST(Launch, TheExampleOfTheDesign) {
  const Script script = parse(
      "in  = f32[1024*1024] : uniform(7)\n"
      "out = f32[1024*1024]\n"
      "symbol c_weights = f32[9] : @weights.npy            // a variable\n"
      "transpose<<<(32,32), (32,8)>>>(in, out, 1024)       # a comment\n"
      "expect out ~ @transposed.npy (rtol 1e-4, atol 0.5)\n"
      "save out -> out.npy ;  print out[0:8]\n");
  ASSERT_EQ(script.size(), 7u);
  const auto& in = std::get<DefineBuffer>(script[0].value);
  EXPECT_EQ(in.name, "in");
  EXPECT_EQ(in.spec.type, ElementType::f32);
  EXPECT_EQ(in.spec.count, 1048576u);
  EXPECT_EQ(in.spec.fill.kind, Fill::Kind::uniform);
  EXPECT_EQ(in.spec.fill.seed, 7u);
  EXPECT_EQ(std::get<DefineBuffer>(script[1].value).spec.fill.kind, Fill::Kind::zero);
  const auto& symbol = std::get<SetSymbol>(script[2].value);
  EXPECT_EQ(symbol.symbol, "c_weights");
  EXPECT_EQ(symbol.spec.fill.path, "weights.npy");
  const auto& launch = std::get<KernelLaunch>(script[3].value);
  EXPECT_EQ(launch.kernel, "transpose");
  EXPECT_EQ(launch.grid, (Dim3{32, 32, 1}));
  EXPECT_EQ(launch.block, (Dim3{32, 8, 1}));
  ASSERT_EQ(launch.arguments.size(), 3u);
  EXPECT_EQ(buffer(launch.arguments[1]).name, "out");
  EXPECT_EQ(scalar(launch.arguments[2]).integer, 1024);
  const auto& expect = std::get<Expect>(script[4].value);
  EXPECT_FALSE(expect.exact);
  EXPECT_DOUBLE_EQ(expect.rtol, 1e-4);
  EXPECT_DOUBLE_EQ(expect.atol, 0.5);
  EXPECT_EQ(expect.reference.spec->fill.path, "transposed.npy");
  EXPECT_EQ(expect.reference.spec->count, 0u);
  EXPECT_EQ(std::get<Save>(script[5].value).path, "out.npy");
  EXPECT_EQ(std::get<Print>(script[6].value).range, (std::pair<uint64_t, uint64_t>{0, 8}));
  EXPECT_EQ(script[6].line, 6u);
  EXPECT_EQ(script[6].column, 24u);
  EXPECT_EQ(script[6].text, "print out[0:8]");
}

TEST(Launch, DimsInEveryForm) {
  const auto dims = [](std::string_view text) {
    return only<KernelLaunch>("k<<<" + std::string(text) + ", 1>>>()").grid;
  };
  EXPECT_EQ(dims("64"), (Dim3{64, 1, 1}));
  EXPECT_EQ(dims("(3, 4)"), (Dim3{3, 4, 1}));
  EXPECT_EQ(dims("{3, 4, 5}"), (Dim3{3, 4, 5}));
  EXPECT_EQ(dims("dim3(6)"), (Dim3{6, 1, 1}));
  EXPECT_EQ(dims("dim3{6, 7}"), (Dim3{6, 7, 1}));
  EXPECT_EQ(dims("(1000 + 31) / 32"), (Dim3{32, 1, 1}));
  EXPECT_EQ(dims("((1000 + 31) / 32, max(2, 3))"), (Dim3{32, 3, 1}));
  EXPECT_EQ(dims("(max(2, 3))"), (Dim3{3, 1, 1}));
}

TEST(Launch, SharedBytesAndStream) {
  EXPECT_EQ(only<KernelLaunch>("k<<<1, 32, 3*1024>>>()").dynamic_shared_bytes, 3072u);
  EXPECT_EQ(only<KernelLaunch>("k<<<1, 32, 64, stream>>>()").dynamic_shared_bytes, 64u);
  EXPECT_EQ(only<KernelLaunch>("k<<<1, 32, 64 >> 2, 0>>>()").dynamic_shared_bytes, 16u);
}

TEST(Launch, KernelNamesStandAsWritten) {
  const auto name = [](std::string_view text) {
    return only<KernelLaunch>(std::string(text) + "<<<1, 1>>>()").kernel;
  };
  EXPECT_EQ(name("ns::inner::k"), "ns::inner::k");
  EXPECT_EQ(name("::k"), "::k");
  EXPECT_EQ(name("scan<float, 128>"), "scan<float, 128>");
  EXPECT_EQ(name("apply<thrust::plus<vec<int>>>"), "apply<thrust::plus<vec<int>>>");
  EXPECT_EQ(name("k<(1 << 3)>"), "k<(1 << 3)>");
  EXPECT_EQ(name("(anonymous namespace)::k"), "(anonymous namespace)::k");
  EXPECT_EQ(name("print"), "print");
  EXPECT_EQ(name("save<int> "), "save<int>");
}

TEST(Launch, ArithmeticFollowsC) {
  EXPECT_EQ(integer_of("1 + 2 * 3"), 7);
  EXPECT_EQ(integer_of("(1 + 2) * 3"), 9);
  EXPECT_EQ(integer_of("1 << 4 + 1"), 32);
  EXPECT_EQ(integer_of("7 / 2"), 3);
  EXPECT_EQ(integer_of("-7 / 2"), -3);
  EXPECT_EQ(integer_of("-7 % 3"), -1);
  EXPECT_EQ(integer_of("--5"), 5);
  EXPECT_EQ(integer_of("0xff"), 255);
  EXPECT_EQ(integer_of("0b101"), 5);
  EXPECT_EQ(integer_of("1'000'000u"), 1000000);
  EXPECT_EQ(integer_of("min(3, 5) + max(3, 5) * 10"), 53);
  EXPECT_EQ(integer_of("ceil_div(1000, 32)"), 32);
  EXPECT_EQ(integer_of("ceil_div(1024, 32)"), 32);
  EXPECT_EQ(integer_of("true + nullptr"), 1);
  EXPECT_EQ(integer_of("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(static_cast<uint64_t>(integer_of("18446744073709551615")), UINT64_MAX);
}

TEST(Launch, FloatsKeepTheirSuffix) {
  const auto launch = only<KernelLaunch>("k<<<1, 1>>>(2.5, 0.1f, -1e-3, 3 / 2.0, -inf, nan, .5, 0.1f * 2)");
  const auto& a = launch.arguments;
  EXPECT_TRUE(scalar(a[0]).is_float);
  EXPECT_FALSE(scalar(a[0]).type);
  EXPECT_EQ(scalar(a[0]).real, 2.5);
  EXPECT_EQ(scalar(a[1]).type, ElementType::f32);
  EXPECT_EQ(scalar(a[1]).real, static_cast<double>(0.1f));
  EXPECT_EQ(scalar(a[2]).real, -1e-3);
  EXPECT_EQ(scalar(a[3]).real, 1.5);
  EXPECT_EQ(scalar(a[4]).real, -std::numeric_limits<double>::infinity());
  EXPECT_NE(scalar(a[5]).real, scalar(a[5]).real);
  EXPECT_EQ(scalar(a[6]).real, 0.5);
  EXPECT_EQ(scalar(a[7]).real, static_cast<double>(0.2f));
}

TEST(Launch, ConstantsStandForTheirValues) {
  const Script script = parse("n = 1000; m = n / 8; a = f32[n * m]; k<<<ceil_div(n, 32), 32>>>(a + m, n, m)");
  ASSERT_EQ(script.size(), 2u);
  EXPECT_EQ(std::get<DefineBuffer>(script[0].value).spec.count, 125000u);
  const auto& launch = std::get<KernelLaunch>(script[1].value);
  EXPECT_EQ(launch.grid.x, 32u);
  EXPECT_EQ(buffer(launch.arguments[0]).offset_elements, 125);
  EXPECT_EQ(scalar(launch.arguments[2]).integer, 125);
}

TEST(Launch, BuffersInPlaceAndOffsets) {
  const auto launch = only<KernelLaunch>(
      "copy<<<64,256>>>(f32[16384]:iota + 1, f32[16384], a - 2 * 3 + 1, bf16[] : @\"my file.npy\" + 4)");
  const BufferArgument& first = buffer(launch.arguments[0]);
  EXPECT_TRUE(first.name.empty());
  EXPECT_EQ(first.spec->fill.kind, Fill::Kind::iota);
  EXPECT_EQ(first.offset_elements, 1);
  EXPECT_EQ(buffer(launch.arguments[1]).spec->count, 16384u);
  EXPECT_EQ(buffer(launch.arguments[2]).offset_elements, -5);
  EXPECT_EQ(buffer(launch.arguments[3]).spec->fill.path, "my file.npy");
  EXPECT_EQ(buffer(launch.arguments[3]).offset_elements, 4);
  EXPECT_EQ(launch.arguments[0].column, 18u);
}

TEST(Launch, Fills) {
  const auto fill = [](std::string_view text) {
    return only<DefineBuffer>("a = u8[4] : " + std::string(text)).spec.fill;
  };
  EXPECT_EQ(fill("zero").kind, Fill::Kind::zero);
  EXPECT_EQ(fill("uninit").kind, Fill::Kind::uninit);
  EXPECT_EQ(fill("uniform").seed, std::nullopt);
  EXPECT_EQ(fill("uniform()").seed, std::nullopt);
  EXPECT_EQ(fill("below(10)").below, 10u);
  EXPECT_EQ(fill("below(256, 3)").seed, 3u);
  EXPECT_EQ(fill("@dir/a-b.npy").path, "dir/a-b.npy");
}

TEST(Launch, StructsAndPointerArrays) {
  const auto launch =
      only<KernelLaunch>("k<<<1,1>>>({f32 1.5, i32 3, in, {u8 1}}, ptr[]{in, out + 2, f32[4], 0})");
  const auto& members = std::get<StructArgument>(launch.arguments[0].value).members;
  ASSERT_EQ(members.size(), 4u);
  EXPECT_EQ(scalar(members[0]).type, ElementType::f32);
  EXPECT_EQ(scalar(members[1]).type, ElementType::i32);
  EXPECT_EQ(buffer(members[2]).name, "in");
  EXPECT_TRUE(std::holds_alternative<StructArgument>(members[3].value));
  const auto& pointers = std::get<PointerArrayArgument>(launch.arguments[1].value).pointers;
  ASSERT_EQ(pointers.size(), 4u);
  EXPECT_EQ(buffer(pointers[1]).offset_elements, 2);
}

TEST(Launch, ExpectInEveryForm) {
  EXPECT_TRUE(only<Expect>("expect out = other").exact);
  EXPECT_EQ(only<Expect>("expect out = other").reference.name, "other");
  EXPECT_EQ(only<Expect>("expect out[0:8] = f32[8]:iota + 1").reference.offset_elements, 1);
  EXPECT_EQ(only<Expect>("expect out[3] = other").range, (std::pair<uint64_t, uint64_t>{3, 4}));
  EXPECT_EQ(only<Expect>("expect out ~ other").rtol, 1e-5);
  EXPECT_EQ(only<Expect>("expect out ~ other (atol 1e-3)").atol, 1e-3);
  EXPECT_EQ(only<Expect>("expect out ~ other (rtol = 1e-3, atol=1)").rtol, 1e-3);
}

TEST(Launch, StatementsGoOnInsideBrackets) {
  const auto launch = only<KernelLaunch>("k<<<(2,\n  3), 32>>>(a, // the input\n  /* two\n lines */ b,\n)");
  EXPECT_EQ(launch.grid.y, 3u);
  EXPECT_EQ(launch.arguments.size(), 2u);
}

TEST(Launch, EmptyScripts) {
  EXPECT_TRUE(parse("").empty());
  EXPECT_TRUE(parse(" ;; \n # nothing\n // here\n /* or\n there */").empty());
}

TEST(Launch, DefaultSeedsCountEveryBufferInTextOrder) {
  Script script = parse(
      "a = f32[4]:uniform; symbol s = f32[4]:uniform\n"
      "k<<<1,1>>>(f32[4]:uniform(9), {f32[2]:uniform}, ptr[]{f32[4]:below(3), a})\nb = f32[1]:uniform");
  assign_default_seeds(&script);
  EXPECT_EQ(std::get<DefineBuffer>(script[0].value).spec.fill.seed, 1u);
  EXPECT_EQ(std::get<SetSymbol>(script[1].value).spec.fill.seed, 2u);
  const auto& arguments = std::get<KernelLaunch>(script[2].value).arguments;
  EXPECT_EQ(buffer(arguments[0]).spec->fill.seed, 9u);
  EXPECT_EQ(buffer(std::get<StructArgument>(arguments[1].value).members[0]).spec->fill.seed, 4u);
  EXPECT_EQ(buffer(std::get<PointerArrayArgument>(arguments[2].value).pointers[0]).spec->fill.seed, 5u);
  EXPECT_EQ(std::get<DefineBuffer>(script[3].value).spec.fill.seed, 6u);
}

}  // namespace
}  // namespace fullwarp::input
