// Operands of every shape, and the instruction around them.
#include "ptx/forms.h"
#include "test_module.h"

namespace fullwarp::ptx {
namespace {

using Kind = Operand::Kind;

TEST(Operands, InstructionHasItsPartsAndPlace) {
  Module module = parsed_body("@!%p3 ld.global.nc.L1::no_allocate.v2.f32 {%f1, %f2}, [%rd1+16];");
  const Instruction& i = first(module);
  EXPECT_EQ(i.op, Op::ld);
  EXPECT_TRUE(i.has(Mod::nc) && i.has(Mod::global) && i.has(Mod::L1_no_allocate) && i.has(Mod::v2));
  EXPECT_EQ(i.type(), Type::f32);
  EXPECT_EQ(module.functions[0].registers[static_cast<size_t>(i.guard)].name, "%p3");
  EXPECT_TRUE(i.guard_negated);
  EXPECT_EQ(i.line, 10u);
  EXPECT_EQ(i.column, 7u);
  EXPECT_EQ(forms()[i.form].memory, MemoryKind::load);
  const Operand& vector = operand(module, 0);
  ASSERT_EQ(vector.kind, Kind::vector);
  ASSERT_EQ(vector.count, 2);
  EXPECT_EQ(module.functions[0].registers[module.operands[vector.first + 1].index].name, "%f2");
  EXPECT_EQ(operand(module, 1).kind, Kind::address);
  EXPECT_EQ(operand(module, 1).base, Kind::reg);
  EXPECT_EQ(operand(module, 1).value, 16);
}

TEST(Operands, ModifiersInAnyOrderComeInTheOrderOfTheTable) {
  Module module = parsed_body("div.ftz.rn.f32 %f1, %f2, %f3; div.rn.ftz.f32 %f1, %f2, %f3;");
  const auto& list = module.functions[0].instructions;
  EXPECT_TRUE(module.unsupported.empty());
  EXPECT_EQ(list[0].mods, list[1].mods);
  EXPECT_EQ(list[0].form, list[1].form);
}

TEST(Operands, Addresses) {
  Module module = parsed_body(
      ".shared .align 4 .b32 s[16];\n"
      "ld.shared.u32 %r1, [s]; ld.shared.u32 %r1, [s+8]; ld.shared.u32 %r1, [%r2+-4]; ld.shared.u32 %r1, "
      "[64];\n"
      "ld.param.u64 %rd1, [k_p0]; ld.param.u32 %r1, [k_p1+0]; ld.shared.u32 %r1, s[3];");
  EXPECT_EQ(operand(module, 1, 0).base, Kind::variable);
  EXPECT_EQ(operand(module, 1, 1).value, 8);
  EXPECT_EQ(operand(module, 1, 2).value, -4);
  EXPECT_EQ(operand(module, 1, 3).base, Kind::imm);
  EXPECT_EQ(operand(module, 1, 3).value, 64);
  EXPECT_EQ(operand(module, 1, 4).base, Kind::param);
  EXPECT_EQ(operand(module, 1, 4).index, 0u);
  EXPECT_EQ(operand(module, 1, 5).index, 1u);
  EXPECT_EQ(operand(module, 1, 6).kind, Kind::address);
  EXPECT_EQ(operand(module, 1, 6).value, 12);
}

TEST(Operands, TensorCoordinatesStandBehindTheBase) {
  Module module = parsed_body(
      ".shared .align 128 .b8 s[64];\n"
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [s], [%rd1, {%r1, "
      "%r2}], [s];");
  EXPECT_TRUE(module.unsupported.empty());
  const Operand& address = operand(module, 1);
  ASSERT_EQ(address.count, 2);
  EXPECT_EQ(module.operands[address.first].kind, Kind::reg);
  EXPECT_EQ(module.operands[address.first + 1].kind, Kind::vector);
  EXPECT_EQ(module.operands[address.first + 1].count, 2);
}

TEST(Operands, PairsSinksAndSpecialRegisters) {
  Module module = parsed_body(
      "setp.lt.and.s32 %p1|%p2, %r1, 5, !%p3; shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1; setp.eq.u32 _|%p2, "
      "%r1, 0;\n"
      "mov.u32 %r1, %ctaid.y; mov.u32 %r1, %envreg7; mov.b64 {_, %r1}, %rd1;");
  EXPECT_TRUE(module.unsupported.empty());
  const auto& registers = module.functions[0].registers;
  EXPECT_EQ(registers[static_cast<size_t>(operand(module, 0, 0).pair)].name, "%p2");
  EXPECT_TRUE(operand(module, 3, 0).negated);
  EXPECT_EQ(registers[static_cast<size_t>(operand(module, 0, 1).pair)].name, "%p1");
  EXPECT_EQ(operand(module, 0, 2).kind, Kind::sink);
  EXPECT_EQ(operand(module, 1, 3).index, static_cast<uint32_t>(Special::ctaid));
  EXPECT_EQ(operand(module, 1, 3).component, 1);
  EXPECT_EQ(operand(module, 1, 4).value, 7);
  EXPECT_EQ(module.operands[operand(module, 0, 5).first].kind, Kind::sink);
}

TEST(Operands, VectorRegistersAreFourRegisters) {
  Module module = parsed_body(".reg .v4 .f32 %v; ld.global.v4.f32 %v, [%rd1]; mov.f32 %f1, %v.z;");
  EXPECT_EQ(operand(module, 0, 0).kind, Kind::vector);
  EXPECT_EQ(operand(module, 0, 0).count, 4);
  EXPECT_EQ(operand(module, 1, 1).index, module.operands[operand(module, 0, 0).first + 2].index);
}

TEST(Operands, WhatIsNotInTheTableIsListedAndTheRestGoesOn) {
  Module module = parsed(
      ".entry a() { .reg .b32 %r<3>; frobnicate.u32 %r1, {%r2, 1}; add.u33 %r1, %r1, %r1; add.u32 %r1; ret; "
      "}\n"
      ".entry b() { ret; }\n");
  ASSERT_EQ(module.unsupported.size(), 3u);
  EXPECT_EQ(module.unsupported[0].message, "instruction 'frobnicate' is not supported");
  EXPECT_EQ(module.unsupported[0].function, 0);
  EXPECT_EQ(module.unsupported[0].line, 4u);
  EXPECT_EQ(module.unsupported[0].column, 31u);
  EXPECT_EQ(module.unsupported[1].message, "modifier '.u33' of 'add.u33' is not supported");
  EXPECT_EQ(module.unsupported[2].message, "the operands of 'add.u32' are not of a form that is supported");
  EXPECT_EQ(module.functions.size(), 2u);
  EXPECT_EQ(module.functions[1].instructions.size(), 1u);
}

}  // namespace
}  // namespace fullwarp::ptx
