// What ptxas 13.0.88 made of small functions for sm_90 (and sm_80 where it says so), as read from its machine
// code; docs/machine-accesses.md tells how. Every row is one function body and what each of its accesses to
// shared, local, global memory became, in order:
//   128      a machine access of 128 bits       <2       part of the access of access 2
//   32+8:32  two of 32 bits, the second 8 bytes behind the first     -        removed
#include "model/machine_accesses.h"

#include <gtest/gtest.h>

#include <sstream>

#include "ptx/parser.h"
#include "ptxas.h"

namespace fullwarp::model {
namespace {

struct Case {
  const char* name;
  const char* body;
  const char* want;
  unsigned sm = 90;
  const char* variables = ".shared .align 4 .b8 s[4096];";
  const char* module_variables = "";
};

std::string ptx_of(const Case& c) {
  std::ostringstream text;
  text << ".version 8.0\n.target sm_" << c.sm << "\n.address_size 64\n"
       << c.module_variables << "\n"
       << ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u32 n) {\n"
       << ".reg .pred %p<20>; .reg .f32 %f<200>; .reg .b32 %r<100>; .reg .b64 %rd<100>; .reg .f64 %fd<20>;"
       << " .reg .b16 %h<40>;\n"
       << c.variables << " .local .align 16 .b8 loc[1024];\n"
       << "ld.param.u64 %rd1,[p0]; ld.param.u64 %rd2,[p1]; ld.param.u32 %r1,[n];\n"
       << "cvta.to.global.u64 %rd1,%rd1; cvta.to.global.u64 %rd2,%rd2; mov.u32 %r2,%tid.x; mov.u32 "
          "%r3,%tid.y;\n"
       << "mov.u32 %r4,s; shl.b32 %r5,%r2,4; add.s32 %r6,%r4,%r5;\n"
       << c.body << "\nret;\n}\n";
  // One instruction a line, so that machine code can be led back to it.
  std::string lines;
  for (char ch : text.str()) {
    lines += ch;
    if (ch == ';') lines += '\n';
  }
  return lines;
}

std::string describe(const ptx::Module& module) {
  const std::vector<MachineAccess> accesses = machine_accesses(module, 0);
  std::vector<int> number(accesses.size(), -1);
  std::string text;
  int count = 0;
  for (size_t n = 0; n < accesses.size(); ++n)
    if (accesses[n].width_bytes || accesses[n].removed) number[n] = count++;
  for (size_t n = 0; n < accesses.size(); ++n) {
    const MachineAccess& a = accesses[n];
    if (number[n] < 0) continue;
    if (!text.empty()) text += ' ';
    if (a.removed)
      text += '-';
    else if (a.leader >= 0)
      text += "<" + std::to_string(number[static_cast<size_t>(a.leader)]);
    else
      text += std::to_string(8 * a.width_bytes);
    if (a.split_offset_bytes != MachineAccess::kNoSplit)
      text += "+" + std::to_string(a.split_offset_bytes - a.offset_bytes) + ":" +
              std::to_string(8 * a.width_bytes);
  }
  return text;
}

// Four loads of neighbouring words from [%r6], and their use; X stands between the second and the third.
#define LOADS(X)                                           \
  "ld.shared.f32 %f0,[%r6]; ld.shared.f32 %f1,[%r6+4];" X  \
  "ld.shared.f32 %f2,[%r6+8]; ld.shared.f32 %f3,[%r6+12];" \
  "st.global.v4.f32 [%rd2], {%f0,%f1,%f2,%f3};"
#define FOUR LOADS("")
#define ADDRESS(X) X " add.s32 %r6,%r4,%r5;" FOUR
// Four values to store, and a read of them later.
#define VALUES "ld.global.v4.f32 {%f0,%f1,%f2,%f3},[%rd1];"
#define LATER "bar.sync 0; ld.shared.f32 %f9,[%r1]; st.global.f32 [%rd2],%f9;"

const Case kCases[] = {
    // Merging by position in a window of 16 bytes.
    {"four words", FOUR, "128 <0 <0 <0 128"},
    {"any order",
     "ld.shared.f32 %f3,[%r6+12]; ld.shared.f32 %f2,[%r6+8]; ld.shared.f32 %f1,[%r6+4]; ld.shared.f32 "
     "%f0,[%r6];"
     "st.global.v4.f32 [%rd2], {%f0,%f1,%f2,%f3};",
     "128 <0 <0 <0 128"},
    {"words 0 1", "ld.shared.f32 %f0,[%r6]; ld.shared.f32 %f1,[%r6+4]; st.global.v2.f32 [%rd2],{%f0,%f1};",
     "64 <0 64"},
    {"words 1 2", "ld.shared.f32 %f0,[%r6+4]; ld.shared.f32 %f1,[%r6+8]; st.global.v2.f32 [%rd2],{%f0,%f1};",
     "32 32 64"},
    {"words 0 2", "ld.shared.f32 %f0,[%r6]; ld.shared.f32 %f1,[%r6+8]; st.global.v2.f32 [%rd2],{%f0,%f1};",
     "32 32 64"},
    {"words 0 2 3",
     "ld.shared.f32 %f0,[%r6]; ld.shared.f32 %f1,[%r6+8]; ld.shared.f32 %f2,[%r6+12];"
     "st.global.v2.f32 [%rd2],{%f0,%f1}; st.global.f32 [%rd2+8],%f2;",
     "128 <0 <0 64 32"},
    {"words 1 2 3",
     "ld.shared.f32 %f0,[%r6+4]; ld.shared.f32 %f1,[%r6+8]; ld.shared.f32 %f2,[%r6+12];"
     "st.global.v2.f32 [%rd2],{%f0,%f1}; st.global.f32 [%rd2+8],%f2;",
     "128 <0 <0 64 32"},
    {"vectors merge",
     "ld.shared.v2.f32 {%f0,%f1},[%r6]; ld.shared.v2.f32 {%f2,%f3},[%r6+8];"
     "st.global.v4.f32 [%rd2], {%f0,%f1,%f2,%f3};",
     "128 <0 128"},
    {"64-bit pair",
     "ld.shared.f64 %fd0,[%r6]; ld.shared.f64 %fd1,[%r6+8]; st.global.v2.f64 [%rd2],{%fd0,%fd1};",
     "128 <0 128"},
    {"64 and 32 bits stay apart",
     "ld.shared.f64 %fd0,[%r6]; ld.shared.f32 %f0,[%r6+8]; ld.shared.f32 %f1,[%r6+12];"
     "st.global.f64 [%rd2],%fd0; st.global.v2.f32 [%rd2+8],{%f0,%f1};",
     "64 64 <1 64 64"},
    {"16 bits do not merge",
     "ld.shared.u16 %h0,[%r6]; ld.shared.u16 %h1,[%r6+2]; add.u16 %h0,%h0,%h1; st.global.u16 [%rd2],%h0;",
     "16 16 16"},
    {"pairs of 16 bits merge as words",
     "ld.shared.v2.u16 {%h0,%h1},[%r6]; ld.shared.v2.u16 {%h2,%h3},[%r6+4]; st.global.v4.u16 "
     "[%rd2],{%h0,%h1,%h2,%h3};",
     "64 <0 64"},
    {"global loads do not merge",
     "ld.global.f32 %f0,[%rd1]; ld.global.f32 %f1,[%rd1+4]; st.global.v2.f32 [%rd2],{%f0,%f1};", "32 32 64"},
    {"local loads do",
     "mov.u64 %rd5,loc; mul.wide.u32 %rd6,%r2,16; add.s64 %rd7,%rd5,%rd6; st.local.f32 [%rd5+64],%f7;"
     "ld.local.f32 %f0,[%rd7]; ld.local.f32 %f1,[%rd7+4]; st.global.v2.f32 [%rd2],{%f0,%f1};",
     "32 64 <1 64"},

    // Alignment that ptxas can prove.
    {"tid * 8", ADDRESS("shl.b32 %r5,%r2,3;"), "64 <0 64 <2 128"},
    {"tid * 4", ADDRESS("shl.b32 %r5,%r2,2;"), "32 32 32 32 128"},
    {"row of 36 words", "mad.lo.s32 %r6,%r3,144,%r4;" FOUR, "128 <0 <0 <0 128"},
    {"row of 33 words", "mad.lo.s32 %r6,%r3,132,%r4;" FOUR, "32 32 32 32 128"},
    {"row of 6 words", "mad.lo.s32 %r6,%r3,24,%r4;" FOUR, "64 <0 64 <2 128"},
    {"mask", ADDRESS("and.b32 %r5,%r1,-16;"), "128 <0 <0 <0 128"},
    {"or of shifts", ADDRESS("shl.b32 %r7,%r3,8; or.b32 %r5,%r5,%r7;"), "128 <0 <0 <0 128"},
    {"swizzle", ADDRESS("shl.b32 %r7,%r3,5; xor.b32 %r5,%r5,%r7;"), "128 <0 <0 <0 128"},
    {"selection", ADDRESS("shl.b32 %r7,%r3,8; setp.gt.s32 %p1,%r1,3; selp.b32 %r5,%r5,%r7,%p1;"),
     "128 <0 <0 <0 128"},
    {"minimum is not followed", ADDRESS("shl.b32 %r7,%r1,8; min.u32 %r5,%r5,%r7;"), "32 32 32 32 128"},
    {"unknown factor", ADDRESS("mul.lo.s32 %r5,%r5,%r1;"), "128 <0 <0 <0 128"},
    {"through 64 bits", ADDRESS("mul.wide.u32 %rd5,%r2,16; cvt.u32.u64 %r5,%rd5;"), "128 <0 <0 <0 128"},
    {"base and offset folded",
     "add.s32 %r7,%r6,8; ld.shared.f32 %f0,[%r6]; ld.shared.f32 %f1,[%r6+4];"
     "ld.shared.f32 %f2,[%r7]; ld.shared.f32 %f3,[%r7+4];"
     "st.global.v4.f32 [%rd2], {%f0,%f1,%f2,%f3};",
     "128 <0 <0 <0 128"},
    {"sum in another order",
     "add.s32 %r8,%r4,8; add.s32 %r7,%r8,%r5; ld.shared.f32 %f0,[%r6]; ld.shared.f32 %f1,[%r6+4];"
     "ld.shared.f32 %f2,[%r7]; ld.shared.f32 %f3,[%r7+4];"
     "st.global.v4.f32 [%rd2], {%f0,%f1,%f2,%f3};",
     "128 <0 <0 <0 128"},
    {"loop variable",
     "mov.u32 %r6,%r4; mov.u32 %r9,0;\nLA:\n" FOUR
     "add.s32 %r6,%r6,16; add.s32 %r9,%r9,1; setp.lt.s32 %p1,%r9,%r1; @%p1 bra LA;",
     "128 <0 <0 <0 128"},
    {"loop variable from 8",
     "add.s32 %r6,%r4,8; mov.u32 %r9,0;\nLA:\n" FOUR
     "add.s32 %r6,%r6,16; add.s32 %r9,%r9,1; setp.lt.s32 %p1,%r9,%r1; @%p1 bra LA;",
     "64 <0 64 <2 128"},
    {"second variable at 8", "mov.u32 %r7,t; add.s32 %r6,%r7,%r5;" FOUR, "64 <0 64 <2 128", 90,
     ".shared .align 4 .b8 s[8]; .shared .align 4 .b8 t[4096];"},
    {"third variable at 32", "mov.u32 %r7,u; mov.u32 %r7,t; add.s32 %r6,%r7,%r5;" FOUR, "128 <0 <0 <0 128",
     90, ".shared .align 4 .b8 s[12]; .shared .align 4 .b8 u[20]; .shared .align 4 .b8 t[4096];"},
    {"a variable that is not named takes no room", "mov.u32 %r7,t; add.s32 %r6,%r7,%r5;" FOUR,
     "32 32 32 32 128", 90,
     ".shared .align 4 .b8 s[12]; .shared .align 4 .b8 u[20]; .shared .align 4 .b8 t[4096];"},
    {"variables of module scope come last", "mov.u32 %r7,z; add.s32 %r6,%r7,%r5;" FOUR, "64 <0 64 <2 128", 90,
     ".shared .align 4 .b8 s[24];", ".shared .align 4 .b8 z[4096];"},
    {"dynamic shared memory counts as aligned", "mov.u32 %r7,dyn; add.s32 %r6,%r7,%r5;" FOUR,
     "128 <0 <0 <0 128", 90, ".shared .align 4 .b8 s[4];", ".extern .shared .align 4 .b8 dyn[];"},
    {"place of a variable is a constant before sm_90",
     "mov.u32 %r7,t; add.s32 %r6,%r7,%r5; ld.shared.f32 %f0,[%r6+8]; ld.shared.f32 %f1,[%r6+12];"
     "ld.shared.f32 %f2,[%r6+16]; ld.shared.f32 %f3,[%r6+20]; st.global.v4.f32 [%rd2], {%f0,%f1,%f2,%f3};",
     "128 <0 <0 <0 128", 80, ".shared .align 4 .b8 s[8]; .shared .align 4 .b8 t[4096];"},
    {"but not since",
     "mov.u32 %r7,t; add.s32 %r6,%r7,%r5; ld.shared.f32 %f0,[%r6+8]; ld.shared.f32 %f1,[%r6+12];"
     "ld.shared.f32 %f2,[%r6+16]; ld.shared.f32 %f3,[%r6+20]; st.global.v4.f32 [%rd2], {%f0,%f1,%f2,%f3};",
     "64 <0 64 <2 128", 90, ".shared .align 4 .b8 s[8]; .shared .align 4 .b8 t[4096];"},

    // What stands between.
    {"barrier", LOADS("bar.sync 0;"), "64 <0 64 <2 128"},
    {"warp barrier", LOADS("bar.warp.sync -1;"), "64 <0 64 <2 128"},
    {"fence", LOADS("membar.cta;"), "64 <0 64 <2 128"},
    {"shared store", LOADS("st.shared.u32 [%r1],%r2;"), "64 <0 32 64 <3 128"},
    {"shared store elsewhere", LOADS("st.shared.u32 [%r6+64],%r2;"), "64 <0 32 64 <3 128"},
    {"shared atomic", LOADS("atom.shared.add.u32 %r9,[%r1],%r2;"), "64 <0 32 64 <3 128"},
    {"generic store", LOADS("st.u32 [%rd9],%r2;"), "64 <0 32 64 <3 128"},
    {"global store", LOADS("st.global.u32 [%rd1],%r2;"), "128 <0 32 <0 <0 128"},
    {"global reduction", LOADS("red.global.add.u32 [%rd1],%r2;"), "128 <0 32 <0 <0 128"},
    {"shuffle", LOADS("shfl.sync.idx.b32 %r9,%r2,0,31,-1; st.global.u32 [%rd1],%r9;"), "128 <0 32 <0 <0 128"},
    {"label", LOADS("setp.gt.s32 %p1,%r1,5; @%p1 bra LB; st.global.u32 [%rd1],%r2; bar.sync 1;\nLB:\n"),
     "64 <0 32 64 <3 128"},
    {"volatile",
     "ld.volatile.shared.f32 %f0,[%r6]; ld.volatile.shared.f32 %f1,[%r6+4]; st.global.v2.f32 "
     "[%rd2],{%f0,%f1};",
     "32 32 64"},
    {"predicated",
     "setp.gt.s32 %p1,%r1,5; mov.f32 %f0,0f00000000; mov.f32 %f1,0f00000000; @%p1 ld.shared.f32 %f0,[%r6];"
     "@%p1 ld.shared.f32 %f1,[%r6+4]; st.global.v2.f32 [%rd2],{%f0,%f1};",
     "32 32 64"},

    // Stores.
    {"four stores",
     VALUES "st.shared.f32 [%r6],%f0; st.shared.f32 [%r6+4],%f1; st.shared.f32 [%r6+8],%f2;"
            "st.shared.f32 [%r6+12],%f3;" LATER,
     "128 <4 <4 <4 128 32 32"},
    {"stores in reverse",
     VALUES "st.shared.f32 [%r6+12],%f0; st.shared.f32 [%r6+8],%f1; st.shared.f32 [%r6+4],%f2;"
            "st.shared.f32 [%r6],%f3;" LATER,
     "128 <4 <4 <4 128 32 32"},
    {"three stores",
     "ld.global.v4.f32 {%f0,%f1,%f2,%f3},[%rd1]; st.shared.f32 [%r6+4],%f1; st.shared.f32 [%r6+8],%f2;"
     "st.shared.f32 [%r6+12],%f3;" LATER,
     "128 32 <3 64 32 32"},
    {"store to another base between",
     VALUES "st.shared.f32 [%r6],%f0; st.shared.f32 [%r6+4],%f1; st.shared.u32 [%r1],%r1;"
            "st.shared.f32 [%r6+8],%f2; st.shared.f32 [%r6+12],%f3;" LATER,
     "128 <2 64 32 <5 64 32 32"},
    {"windows in turn",
     VALUES "st.shared.f32 [%r6],%f0; st.shared.f32 [%r6+16],%f1; st.shared.f32 [%r6+4],%f2;"
            "st.shared.f32 [%r6+20],%f3;" LATER,
     "128 32 32 32 32 32 32"},
    {"shared load between",
     VALUES "st.shared.f32 [%r6],%f0; st.shared.f32 [%r6+4],%f1; ld.shared.f32 %f20,[%r1];"
            "st.shared.f32 [%r6+8],%f2; st.shared.f32 [%r6+12],%f3; st.global.f32 [%rd2+8],%f20;" LATER,
     "128 <2 64 32 <5 64 32 32 32"},
    {"global store between",
     VALUES "st.shared.f32 [%r6],%f0; st.shared.f32 [%r6+4],%f1; st.global.u32 [%rd2+16],%r1;"
            "st.shared.f32 [%r6+8],%f2; st.shared.f32 [%r6+12],%f3;" LATER,
     "128 <5 <5 32 <5 128 32 32"},
    {"16-bit stores",
     "ld.global.u16 %h0,[%rd1]; ld.global.u16 %h1,[%rd1+8]; st.shared.u16 [%r6],%h0;"
     "st.shared.u16 [%r6+2],%h1;" LATER,
     "16 16 <3 32 32 32"},
    {"8-bit stores", "st.shared.u8 [%r6],%r1; st.shared.u8 [%r6+1],%r2;" LATER, "8 8 32 32"},
    {"global stores do not merge", "st.global.u32 [%rd1],%r1; st.global.u32 [%rd1+4],%r2;", "32 32"},

    // Removed and narrowed.
    {"same load twice",
     "ld.shared.f32 %f0,[%r6]; ld.shared.f32 %f1,[%r6]; st.global.v2.f32 [%rd2],{%f0,%f1};", "32 <0 64"},
    {"same global load, store between",
     "ld.global.f32 %f0,[%rd1]; st.global.u32 [%rd2+4],%r1; ld.global.f32 %f1,[%rd1];"
     "st.global.v2.f32 [%rd2],{%f0,%f1};",
     "32 32 32 64"},
    {"same global load, shared store between",
     "ld.global.f32 %f0,[%rd1]; st.shared.u32 [%r6],%r1; ld.global.f32 %f1,[%rd1];"
     "st.global.v2.f32 [%rd2],{%f0,%f1};",
     "32 32 <0 64"},
    {"same read-only load over a barrier",
     "ld.global.nc.f32 %f0,[%rd1]; bar.sync 0; ld.global.nc.f32 %f1,[%rd1];"
     "st.global.v2.f32 [%rd2],{%f0,%f1};",
     "32 <0 64"},
    {"unused load", "ld.shared.f32 %f0,[%r6]; ld.volatile.global.u32 %r9,[%rd1];", "- 32"},
    {"load of what was stored", "st.shared.u32 [%r6],%r1; ld.shared.u32 %r9,[%r6]; st.global.u32 [%rd2],%r9;",
     "32 - 32"},
    {"store between",
     "st.shared.u32 [%r6],%r1; st.shared.u32 [%r1],%r3; ld.shared.u32 %r9,[%r6];"
     "st.global.u32 [%rd2],%r9;",
     "32 32 32 32"},
    {"store hidden by the next", "st.global.u32 [%rd1],%r1; st.global.u32 [%rd1],%r2;", "- 32"},
    {"store seen before the next",
     "st.global.u32 [%rd1],%r1; ld.global.f32 %f1,[%rd2+8]; st.global.u32 [%rd1],%r2;"
     "st.global.f32 [%rd2+32],%f1;",
     "32 32 32 32"},
    {"vector with two used", "ld.global.v4.f32 {%f0,%f1,%f2,%f3},[%rd1]; st.global.v2.f32 [%rd2],{%f2,%f3};",
     "64 64"},
    {"vector with one used", "ld.global.v4.f32 {%f0,%f1,%f2,%f3},[%rd1]; st.global.f32 [%rd2],%f1;", "32 32"},
    {"vector with three used",
     "ld.global.v4.f32 {%f0,%f1,%f2,%f3},[%rd1]; st.global.v2.f32 [%rd2],{%f0,%f1}; st.global.f32 "
     "[%rd2+8],%f2;",
     "128 64 32"},
    {"vector with its ends used",
     "ld.global.v4.f32 {%f0,%f1,%f2,%f3},[%rd1]; st.global.v2.f32 [%rd2],{%f0,%f3};", "32+12:32 64"},
    {"16-bit vector with one used", "ld.global.v4.u16 {%h0,%h1,%h2,%h3},[%rd1]; st.global.u16 [%rd2],%h0;",
     "16 16"},
};

class Rule : public testing::TestWithParam<Case> {};

TEST_P(Rule, IsAsPtxasWasSeenToDo) {
  const auto module = ptx::parse(ptx_of(GetParam()), "case.ptx");
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  ASSERT_TRUE(module->unsupported.empty()) << module->unsupported[0].message;
  EXPECT_EQ(describe(*module), GetParam().want) << GetParam().body;
}

TEST_P(Rule, ThisPtxasDoesTheSame) {
  if (!find_ptxas()) GTEST_SKIP() << "no ptxas here: the recorded results stand alone";
  const std::string text = ptx_of(GetParam());
  const auto module = ptx::parse(text, "case.ptx");
  ASSERT_TRUE(module.ok());
  const auto cubin = assemble(text, GetParam().sm);
  ASSERT_TRUE(cubin.ok()) << cubin.error().message;
  const std::vector<Difference> differences = compare(*module, 0, cubin->kernels.at(0));
  for (const Difference& d : differences) ADD_FAILURE() << "line " << d.line << ": " << d.text;
}

INSTANTIATE_TEST_SUITE_P(Machine, Rule, testing::ValuesIn(kCases), [](const auto& info) {
  std::string name;
  for (const char* c = info.param.name; *c; ++c)
    name += std::isalnum(static_cast<unsigned char>(*c)) ? *c : '_';
  return name;
});

TEST(Offsets, LeadThePieceFromAnyMember) {
  const Case c = {"",
                  "ld.shared.f32 %f3,[%r6+12]; ld.shared.f32 %f0,[%r6]; ld.shared.f32 %f1,[%r6+4];"
                  "st.global.v2.f32 [%rd2],{%f0,%f1}; st.global.f32 [%rd2+8],%f3;",
                  ""};
  const auto module = ptx::parse(ptx_of(c), "");
  ASSERT_TRUE(module.ok());
  std::vector<int32_t> offsets;
  for (const MachineAccess& a : machine_accesses(*module, 0))
    if (a.width_bytes == 16) offsets.push_back(a.offset_bytes);
  EXPECT_EQ(offsets, (std::vector<int32_t>{-12, 0, -4}));
}

TEST(Debug, NothingIsMerged) {
  std::string text = ptx_of(kCases[0]);
  text.replace(text.find("sm_90"), 5, "sm_90, debug");
  const auto module = ptx::parse(text, "");
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(describe(*module), "32 32 32 32 128");
}

TEST(Index, OutOfRangeGivesNothing) {
  const auto module = ptx::parse(ptx_of(kCases[0]), "");
  ASSERT_TRUE(module.ok());
  EXPECT_TRUE(machine_accesses(*module, -1).empty());
  EXPECT_TRUE(machine_accesses(*module, 1).empty());
}

}  // namespace
}  // namespace fullwarp::model
