// Cubins made by ptxas 13.0, read and compared with what NVIDIA's own tools say of them: nvdisasm for every
// memory operation of five architectures, `ptxas -v` for what a kernel uses.
#include "cubin/cubin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "read_file.h"

namespace fullwarp::cubin {
namespace {

class EveryArchitecture : public testing::TestWithParam<uint32_t> {
 protected:
  std::string name(const char* extension) const {
    return "operations_sm" + std::to_string(GetParam()) + extension;
  }
};

using Operation =
    std::tuple<std::string, uint32_t, uint32_t, std::string>;  // name, bytes, matrices, predicate
using Operations = std::map<std::pair<std::string, uint32_t>, Operation>;

std::string predicate_text(const MachineOp& op) {
  std::string text = "p";
  text += static_cast<char>('0' + op.predicate);
  if (op.predicate_negated) text += '!';
  return text;
}

TEST_P(EveryArchitecture, MemoryOperationsAreAsTheDisassemblerPrintsThem) {
  Operations want, got;
  std::istringstream lines(read_file(name(".txt")));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    std::string kernel, operation, predicate;
    uint32_t offset = 0, bytes = 0, matrices = 0;
    words >> kernel >> std::hex >> offset >> std::dec >> operation >> bytes >> matrices >> predicate;
    want[{kernel, offset}] = {operation, bytes, matrices, predicate};
  }
  ASSERT_GT(want.size(), 100u);
  const auto cubin = parse_cubin(read_file(name(".cubin")), "");
  ASSERT_TRUE(cubin.ok());
  EXPECT_EQ(cubin->sm, GetParam());
  for (const Kernel& kernel : cubin->kernels)
    for (const MachineInstruction& i : kernel.code)
      if (i.op.kind != MachineKind::other)
        got[{kernel.name, i.offset}] = {std::string(mnemonic(i.op.opcode)), i.op.width_bytes, i.op.matrices,
                                        predicate_text(i.op)};
  EXPECT_EQ(got, want);
}

TEST_P(EveryArchitecture, Resources) {  // as `ptxas -v` printed them: stack frame and shared memory
  const auto cubin = parse_cubin(read_file(name(".cubin")), "");
  ASSERT_TRUE(cubin.ok());
  ASSERT_EQ(cubin->kernels.size(), 2u);
  const Kernel* generic = cubin->find("generic");
  ASSERT_NE(generic, nullptr);
  EXPECT_TRUE(generic->entry);
  EXPECT_EQ(generic->shared_bytes, 4096u);
  EXPECT_EQ(generic->local_bytes, 512u);
  EXPECT_EQ(generic->parameter_bytes, 24u);
  EXPECT_TRUE(generic->has_lines);
  const Kernel* widths = cubin->find("widths");
  ASSERT_NE(widths, nullptr);
  EXPECT_EQ(widths->local_bytes, 0u);
  EXPECT_EQ(widths->parameter_bytes, 56u);
}

// Every memory operation comes from a line of the embedded PTX that says ld, st, atom, red, ldmatrix, ...
TEST_P(EveryArchitecture, LinesLeadToMemoryInstructionsOfThePtx) {
  const auto cubin = parse_cubin(read_file(name(".cubin")), "");
  ASSERT_TRUE(cubin.ok());
  std::vector<std::string> ptx = {""};
  std::istringstream text(cubin->ptx);
  for (std::string line; std::getline(text, line);) ptx.push_back(line);
  for (const Kernel& kernel : cubin->kernels)
    for (const MachineInstruction& i : kernel.code) {
      if (i.op.kind == MachineKind::other) continue;
      ASSERT_GT(i.ptx_line, 0u);
      ASSERT_LT(i.ptx_line, ptx.size());
      const std::string& line = ptx[i.ptx_line];
      const auto has = [&](const char* word) { return line.find(word) != std::string::npos; };
      switch (i.op.kind) {
        case MachineKind::load: EXPECT_TRUE(has("ld.") || has("atom.") || has("red.")) << line; break;
        case MachineKind::store: EXPECT_TRUE(has("st.") || has("atom.") || has("red.")) << line; break;
        case MachineKind::matrix_load: EXPECT_TRUE(has("ldmatrix.")) << line; break;
        case MachineKind::matrix_store: EXPECT_TRUE(has("stmatrix.")) << line; break;
        case MachineKind::async_copy: EXPECT_TRUE(has("cp.async.")) << line; break;
        default: EXPECT_TRUE(has("atom.") || has("red.")) << line;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Sm, EveryArchitecture, testing::Values(75, 80, 90, 100, 120));

// hardware.md: 40 shared loads for the 64 of the PTX, 32 of 32 bits and 8 of 128; ptxas -v: 32 registers,
// 8192 bytes.
TEST(TiledProduct, FortySharedLoads) {
  const auto cubin = parse_cubin(read_file("tiled_sm90.cubin"), "");
  ASSERT_TRUE(cubin.ok());
  const Kernel* kernel = cubin->find("mm");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->registers, 32u);
  EXPECT_EQ(kernel->shared_bytes, 8192u);
  std::map<uint32_t, int> loads;
  for (const MachineInstruction& i : kernel->code)
    if (i.op.kind == MachineKind::load && i.op.space == MachineSpace::shared) ++loads[i.op.width_bytes];
  EXPECT_EQ(loads, (std::map<uint32_t, int>{{4, 32}, {16, 8}}));
}

}  // namespace
}  // namespace fullwarp::cubin
