// Functions: heads, declarations, calls, labels, blocks and their names.
#include "test_module.h"

namespace fullwarp::ptx {
namespace {

using Kind = Operand::Kind;

TEST(Functions, HeadOfAKernel) {
  Module module = parsed(
      ".visible .entry k(\n.param .u64 .ptr .global .align 16 k_0,\n.param .align 8 .b8 k_1[24],\n.param "
      ".f32 k_2\n)\n"
      ".maxntid 128, 2, 1\n.minnctapersm 3\n.maxnreg 64\n.reqnctapercluster 2, 1, 1\n{\nret;\n}\n");
  const Function& k = module.functions[0];
  EXPECT_TRUE(k.entry);
  ASSERT_EQ(k.params.size(), 3u);
  EXPECT_TRUE(k.params[0].pointer);
  EXPECT_EQ(k.params[0].align, 8u);
  EXPECT_EQ(k.params[0].pointee_space, Space::global);
  EXPECT_EQ(k.params[0].pointee_align, 16u);
  EXPECT_EQ(k.params[1].bytes, 24u);
  EXPECT_EQ(k.params[1].align, 8u);
  EXPECT_EQ(k.params[2].type, Type::f32);
  EXPECT_EQ(*k.max_ntid, (Dim3{128, 2, 1}));
  EXPECT_EQ(k.min_blocks_per_sm, 3u);
  EXPECT_EQ(k.max_registers, 64u);
  EXPECT_EQ(*k.cluster, (Dim3{2, 1, 1}));
  EXPECT_EQ(module.find_function("k"), 0);
  EXPECT_EQ(module.find_function("x"), -1);
}

TEST(Functions, DeclarationAndDefinitionAreOne) {
  Module module = parsed(
      ".func (.param .b32 r) f(.param .b32 a);\n.extern .func (.param .b32 r) vprintf(.param .b64 a, .param "
      ".b64 b);\n"
      ".entry k() { .reg .b32 %r<3>; .param .b32 x; .param .b32 y; call.uni (y), f, (x); ret; }\n"
      ".func (.param .b32 result) f(.param .b32 arg) { .reg .b32 %r<2>; ld.param.b32 %r1, [arg];\n"
      "st.param.b32 [result+0], %r1; ret; }\n");
  ASSERT_EQ(module.functions.size(), 3u);
  EXPECT_FALSE(module.functions[0].declared_only);
  EXPECT_EQ(module.functions[0].params[0].name, "arg");
  EXPECT_TRUE(module.functions[1].declared_only);
  const Function& f = module.functions[0];
  EXPECT_EQ(module.operands_of(f.instructions[1])[0].base, Kind::ret_param);
  const Instruction& call = module.functions[2].instructions[0];
  ASSERT_EQ(call.operand_count, 4);
  const Operand* operands = module.operands_of(call);
  EXPECT_EQ(operands[0].count, 1);
  EXPECT_EQ(operands[1].kind, Kind::function);
  EXPECT_EQ(operands[1].index, 0u);
  EXPECT_EQ(module.operands[operands[2].first].kind, Kind::variable);
  EXPECT_EQ(operands[3].kind, Kind::none);
}

TEST(Functions, CallsOfEveryForm) {
  Module module = parsed(
      ".func f() { ret; }\n.func (.reg .u32 r) g(.reg .u32 a) { add.u32 r, a, 1; ret; }\n"
      ".entry k() {\n.reg .b64 %rd<3>;\n.reg .b32 %r<3>;\n.param .b32 x;\n"
      "proto: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 4 .b8 _[12]) .noreturn;\n"
      "list: .calltargets g;\n"
      "call f; call.uni f, (); call (%r1), g, (5); mov.u64 %rd1, f; call (x), %rd1, (%rd2, x), proto;\n"
      "call (%r1), %rd1, (%r2), list; ret;\n}\n");
  ASSERT_TRUE(module.unsupported.empty());
  const Function& k = module.functions[2];
  ASSERT_EQ(k.prototypes.size(), 2u);
  EXPECT_EQ(k.prototypes[0].params[1].bytes, 12u);
  EXPECT_EQ(k.prototypes[1].params.size(), 1u);  // that of g
  auto of = [&](unsigned i) { return module.operands_of(k.instructions[i]); };
  EXPECT_EQ(of(0)[0].count + of(0)[2].count + of(1)[2].count, 0);
  EXPECT_EQ(module.operands[of(2)[2].first].value, 5);
  EXPECT_EQ(of(3)[1].kind, Kind::function);
  EXPECT_EQ(of(4)[1].kind, Kind::reg);
  EXPECT_EQ(of(4)[3].kind, Kind::prototype);
  EXPECT_EQ(of(4)[2].count, 2);
  EXPECT_EQ(of(5)[3].index, 1u);
  const Function& g = module.functions[1];
  EXPECT_EQ(g.registers[static_cast<size_t>(g.params[0].reg)].name, "a");
}

TEST(Functions, LabelsForwardBackwardAndInTables) {
  Module module = parsed_body(
      "TOP: mov.u32 %r1, 0;\n@%p1 bra DONE;\nts: .branchtargets DONE, TOP, MIDDLE;\nbrx.idx %r1, ts;\n"
      "MIDDLE: bra.uni TOP;\nDONE:");
  const Function& k = module.functions[0];
  EXPECT_EQ(operand(module, 0, 1).value, 4);  // DONE stands before the fifth instruction
  EXPECT_EQ(k.branch_targets[0].instructions, (std::vector<uint32_t>{4, 0, 3}));
  EXPECT_EQ(operand(module, 1, 2).kind, Kind::targets);
  EXPECT_EQ(operand(module, 0, 3).value, 0);
}

// Inline assembly is pasted as it is, twice perhaps: each block has its own registers and labels, and an
// inner label wins over an outer one even if it comes later.
TEST(Functions, BlocksHaveTheirOwnNames) {
  Module module = parsed_body(
      "DONE: mov.u32 %r1, 0;\n"
      "{ .reg .pred p; .reg .f32 %r<2>; setp.eq.f32 p, %r1, 0f00000000; @p bra DONE; DONE: }\n"
      "{ .reg .pred p; setp.eq.u32 p, %r1, 1; @p bra DONE; @p bra END; }\nEND:");
  const Function& k = module.functions[0];
  EXPECT_EQ(operand(module, 0, 2).value, 3);  // the inner one
  EXPECT_EQ(operand(module, 0, 4).value, 0);  // the outer one
  EXPECT_EQ(operand(module, 0, 5).value, 6);
  EXPECT_EQ(k.registers[operand(module, 1, 1).index].type, Type::f32);
  EXPECT_EQ(k.registers[operand(module, 1, 3).index].type, Type::b32);
}

TEST(Functions, ARegisterBesideARangeOfItsName) {
  Module module =
      parsed_body("{ .reg .f64 %r5; mov.f64 %r5, 0d0000000000000000; mov.u32 %r6, 1; } mov.u32 %r5, 1;");
  const Function& k = module.functions[0];
  EXPECT_EQ(k.registers[operand(module, 0, 0).index].type, Type::f64);
  EXPECT_EQ(k.registers[operand(module, 0, 2).index].type, Type::b32);
}

TEST(Functions, OnlyUsedMembersOfARangeAreRegisters) {
  Module module = parsed(".entry k() { .reg .b32 %r<16000000>; mov.u32 %r15999999, 1; ret; }");
  ASSERT_EQ(module.functions[0].registers.size(), 1u);
  EXPECT_EQ(module.functions[0].registers[0].name, "%r15999999");
}

TEST(Functions, AnAliasStandsForItsTarget) {
  Module module = parsed(
      ".func target() { ret; }\n.func other();\n.entry k() { call other; ret; }\n.alias other, target;\n");
  EXPECT_EQ(module.operands_of(module.functions[2].instructions[0])[1].index, 0u);
  EXPECT_EQ(module.find_function("other"), 0);
}

}  // namespace
}  // namespace fullwarp::ptx
