// How fast PTX text becomes a tree. The text is made here: kernels of the mix that nvcc writes for an
// ordinary loop over memory, with its space, comments, .loc lines and forward branches, so that nothing
// depends on files.
#include <benchmark/benchmark.h>

#include <string>

#include "ptx/parser.h"

namespace {

using namespace fullwarp;

constexpr const char* kHead = R"(
	// .globl	kernel_~
.visible .entry kernel_~(
	.param .u64 .ptr .align 1 kernel_~_param_0,
	.param .u64 .ptr .align 1 kernel_~_param_1,
	.param .u32 kernel_~_param_2
)
.maxntid 256, 1, 1
{
	.reg .pred 	%p<6>;
	.reg .b32 	%r<1000>;
	.reg .f32 	%f<1000>;
	.reg .b64 	%rd<1000>;
	// demoted variable
	.shared .align 4 .b8 tile_~[4224];
	.loc	1 12 0
	ld.param.u64 	%rd1, [kernel_~_param_0];
	ld.param.u64 	%rd2, [kernel_~_param_1];
	ld.param.u32 	%r1, [kernel_~_param_2];
	cvta.to.global.u64 	%rd3, %rd1;
	cvta.to.global.u64 	%rd4, %rd2;
	mov.u32 	%r2, %ctaid.x;
	mov.u32 	%r3, %ntid.x;
	mov.u32 	%r4, %tid.x;
	mad.lo.s32 	%r5, %r2, %r3, %r4;
	setp.ge.s32 	%p1, %r5, %r1;
	@%p1 bra 	$L__BB~_3;
	mov.u32 	%r6, 0;
	mov.u32 	%r7, tile_~;
$L__BB~_2:
)";

constexpr const char* kStep = R"(	.loc	1 20 9
	mul.wide.s32 	%rd#, %r5, 4;
	add.s64 	%rd10, %rd4, %rd#;
	ld.global.nc.f32 	%f#, [%rd10+128];
	shl.b32 	%r#, %r4, 2;
	add.s32 	%r8, %r7, %r#;
	st.shared.f32 	[%r8+132], %f#;
	bar.sync 	0;
	ld.shared.v4.f32 	{%f10, %f11, %f12, %f13}, [%r8+-16];
	fma.rn.f32 	%f20, %f10, %f11, %f#;
	fma.rn.f32 	%f21, %f12, 0f3F800000, %f20;
	setp.lt.u32 	%p2, %r#, 1024;
	selp.f32 	%f22, %f21, %f20, %p2;
)";

constexpr const char* kTail = R"(	add.s32 	%r6, %r6, 1;
	setp.ne.s32 	%p3, %r6, 64;
	@%p3 bra 	$L__BB~_2;
	st.global.f32 	[%rd3], %f22;
$L__BB~_3:
	ret;

}
)";

void append(std::string& out, std::string_view part, char mark, const std::string& number) {
  for (char c : part) {
    if (c == mark) {
      out += number;
    } else {
      out += c;
    }
  }
}

std::string generated_ptx(size_t bytes) {
  std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n.file 1 \"kernel.cu\"\n";
  for (unsigned kernel = 0; text.size() < bytes; ++kernel) {
    std::string number = std::to_string(kernel);
    append(text, kHead, '~', number);
    for (unsigned step = 30; step < 90; ++step) append(text, kStep, '#', std::to_string(step));
    append(text, kTail, '~', number);
  }
  return text;
}

void parse(benchmark::State& state) {
  const std::string text = generated_ptx(static_cast<size_t>(state.range(0)));
  size_t instructions = 0;
  for (auto _ : state) {
    auto module = ptx::parse(text, "generated.ptx");
    if (!module || !module->unsupported.empty()) {
      state.SkipWithError("the generated PTX does not parse");
      return;
    }
    instructions = 0;
    for (const ptx::Function& function : module->functions) instructions += function.instructions.size();
    benchmark::DoNotOptimize(instructions);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
  state.counters["instructions"] =
      benchmark::Counter(static_cast<double>(state.iterations() * instructions), benchmark::Counter::kIsRate);
}
BENCHMARK(parse)->Arg(64 << 10)->Arg(1 << 20)->Arg(16 << 20)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
