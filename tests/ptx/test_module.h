// What the tests of the parser share: a module from text that must parse.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ptx/parser.h"

namespace fullwarp::ptx {

inline Module parsed(const std::string& text) {
  auto module = parse(".version 9.0\n.target sm_90\n.address_size 64\n" + text, "test.ptx");
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().to_string());
  return module.ok() ? std::move(*module) : Module();
}

// A kernel around some statements; its registers are %r<100>, %rd<100>, %f<100>, %p<10>.
inline Module parsed_body(const std::string& body) {
  return parsed(
      ".visible .entry k(.param .u64 k_p0, .param .u32 k_p1)\n{\n.reg .b32 %r<100>;\n.reg .b64 %rd<100>;\n"
      ".reg .f32 %f<100>;\n.reg .pred %p<10>;\n" +
      body + "\nret;\n}\n");
}

inline const Instruction& first(const Module& module) { return module.functions[0].instructions.at(0); }

inline const Operand& operand(const Module& module, unsigned number, unsigned instruction = 0) {
  return module.operands_of(module.functions[0].instructions.at(instruction))[number];
}

}  // namespace fullwarp::ptx
