// Graphs within nodes, functions of the model, and convolutions over one and three dimensions. Sizes by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "files.h"
#include "products.h"
#include "shapes/onnx_infer.h"
#include "shapes/read.h"
#include "shapes/time_table.h"

namespace fullwarp::shapes {
namespace {

using namespace test;  // the builders of files.h
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<Model> read(const OnnxFile& graph, const std::string& more = {}, const RunOptions& run = {}) {
  const std::string bytes = graph.model() + more;
  return read_onnx(*bytes_of(bytes), "m.onnx", run);
}

Derived products(const Result<Model>& model, const RunOptions& run = {}) {
  EXPECT_TRUE(model) << model.error().to_string();
  return model ? derive(*model, run) : Derived{};
}

std::string graph_of(const std::vector<std::string>& nodes, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs, const std::vector<std::string>& tensors = {}) {
  std::string bytes;
  for (const std::string& node : nodes) bytes += bytes_field(1, node);
  for (const std::string& tensor : tensors) bytes += bytes_field(5, tensor);
  for (const std::string& input : inputs) bytes += bytes_field(11, bytes_field(1, input));
  for (const std::string& output : outputs) bytes += bytes_field(12, bytes_field(1, output));
  return bytes;
}
std::string body(const std::string& name, const std::string& graph) {
  return bytes_field(1, name) + bytes_field(6, graph);
}

// y = x w, then an If on `flag`: then y v of 32 x 16, else y u of 32 x 96.
OnnxFile either(const std::string& flag) {
  const std::string small =
      graph_of({onnx_node("MatMul", {"y", "v"}, "r")}, {}, {"r"}, {onnx_tensor("v", {32, 16})});
  const std::string large =
      graph_of({onnx_node("MatMul", {"y", "v"}, "r")}, {}, {"r"}, {onnx_tensor("v", {32, 96})});
  return {.nodes = {onnx_node("MatMul", {"x", "w"}, "y"),
                    onnx_node("If", {flag}, "z", {body("then_branch", small), body("else_branch", large)}),
                    onnx_node("MatMul", {"z", "last"}, "end")},
          .tensors = {onnx_tensor("w", {64, 32}), onnx_tensor("last", {96, 8}),
                      onnx_numbers_tensor("yes", {}, {1}), onnx_numbers_tensor("no", {}, {0})},
          .inputs = {onnx_value("x", {{5, ""}, {64, ""}}), onnx_value("flag", {})}};
}

TEST(OnnxControl, OfAnIfTheBranchThatCostsMoreIsCounted) {
  const Result<Model> model = read(either("flag"));
  const Derived derived = products(model);
  EXPECT_EQ(product(derived, "MatMul node of r"), "5 x 96 x 32, NN, 1 times");
  EXPECT_THAT(model->notes,
              Contains("1 products are of the branch that costs more, where data decides which one "
                       "runs: If node of z"));
}

TEST(OnnxControl, AKnownConditionTakesItsBranch) {
  const Result<Model> model = read(either("no"));
  const Derived derived = products(model);
  EXPECT_EQ(product(derived, "MatMul node of r"), "5 x 96 x 32, NN, 1 times");
  EXPECT_EQ(product(derived, "MatMul node of end"), "5 x 8 x 96, NN, 1 times");  // its sizes go on
  EXPECT_THAT(model->notes, IsEmpty());
  EXPECT_EQ(product(products(read(either("yes"))), "MatMul node of r"), "5 x 16 x 32, NN, 1 times");
}

// state = state w, `trips` times; each iteration's state is gathered too.
OnnxFile repeated(const std::string& trips) {
  const std::string graph =
      graph_of({onnx_node("Identity", {"on"}, "go"), onnx_node("MatMul", {"state", "w"}, "next"),
                onnx_node("Identity", {"next"}, "part")},
               {"i", "on", "state"}, {"go", "next", "part"});
  return {
      .nodes = {onnx_nodes("Loop", {trips, "", "x"}, {"final", "all"}, {body("body", graph)}),
                onnx_node("MatMul", {"final", "w"}, "after"), onnx_node("MatMul", {"all", "w"}, "of_all")},
      .tensors = {onnx_tensor("w", {24, 24}), onnx_numbers_tensor("seven", {}, {7})},
      .inputs = {onnx_value("x", {{5, ""}, {24, ""}}), onnx_value("n", {})}};
}

TEST(OnnxControl, ALoopOfAKnownLengthCountsEveryIteration) {
  const Result<Model> model = read(repeated("seven"));
  const Derived derived = products(model);
  // Seven in the loop and the one behind it are alike; the gathered states are 7 x 5 rows.
  EXPECT_EQ(product(derived, "MatMul node of next"), "5 x 24 x 24, NN, 8 times");
  EXPECT_EQ(product(derived, "MatMul node of of_all"), "35 x 24 x 24, NN, 1 times");
  EXPECT_THAT(model->notes, IsEmpty());
}

TEST(OnnxControl, ALoopOfUnknownLengthCountsOnceAndSaysSo) {
  const Result<Model> model = read(repeated("n"));
  EXPECT_EQ(product(products(model), "MatMul node of next"), "5 x 24 x 24, NN, 2 times");
  EXPECT_THAT(model->notes,
              Contains("1 products are counted once, in loops whose number of iterations the graph "
                       "does not tell: Loop node of final"));
}

// A cache that grows by a row an iteration: the product with all of it has no size, that with the row has.
TEST(OnnxControl, AStateThatGrowsHasNoSize) {
  const std::string graph = graph_of(
      {onnx_node("Identity", {"on"}, "go"), onnx_node("MatMul", {"row", "w"}, "new"),
       onnx_node("Concat", {"cache", "new"}, "grown", {onnx_int("axis", 0)}),
       onnx_node("Transpose", {"cache"}, "turned"), onnx_node("MatMul", {"new", "turned"}, "scores")},
      {"i", "on", "cache"}, {"go", "grown"});
  const OnnxFile file = {
      .nodes = {onnx_nodes("Loop", {"four", "", "empty"}, {"out"}, {body("body", graph)})},
      .tensors = {onnx_tensor("w", {24, 24}), onnx_numbers_tensor("four", {}, {4})},
      .inputs = {onnx_value("row", {{1, ""}, {24, ""}}), onnx_value("empty", {{2, ""}, {24, ""}})}};
  const Result<Model> model = read(file);
  const Derived derived = products(model);
  EXPECT_EQ(product(derived, "MatMul node of new"), "1 x 24 x 24, NN, 4 times");
  EXPECT_EQ(derived.operations.size(), 1u);
  EXPECT_THAT(model->notes, ElementsAre(HasSubstr("1 products are left out")));
}

// Recurrence by Scan: x[9, 3, 16] cut along its first axis, a state of 3 x 32.
TEST(OnnxControl, AScanCountsOnceForEachPart) {
  const std::string graph =
      graph_of({onnx_node("MatMul", {"part", "wx"}, "a"), onnx_node("MatMul", {"h", "wh"}, "b"),
                onnx_node("Add", {"a", "b"}, "next"), onnx_node("Identity", {"next"}, "y")},
               {"h", "part"}, {"next", "y"});
  const OnnxFile file = {
      .nodes = {onnx_nodes("Scan", {"h0", "x"}, {"last", "ys"},
                           {body("body", graph), onnx_int("num_scan_inputs", 1)}),
                onnx_node("MatMul", {"ys", "wo"}, "out")},
      .tensors = {onnx_tensor("wx", {16, 32}), onnx_tensor("wh", {32, 32}), onnx_tensor("wo", {32, 10})},
      .inputs = {onnx_value("h0", {{3, ""}, {32, ""}}), onnx_value("x", {{9, ""}, {3, ""}, {16, ""}})}};
  const Derived derived = products(read(file));
  EXPECT_EQ(product(derived, "MatMul node of a"), "3 x 32 x 16, NN, 9 times");
  EXPECT_EQ(product(derived, "MatMul node of b"), "3 x 32 x 32, NN, 9 times");
  EXPECT_EQ(product(derived, "MatMul node of out"), "27 x 10 x 32, NN, 1 times");  // 9 x 3 rows
}

// An operation that the model defines: reshape to rows of the call's `width`, times w.
std::string block() {
  std::string reference = bytes_field(1, "value_ints") + bytes_field(21, "shape");
  return bytes_field(
      25, bytes_field(1, "Block") + bytes_field(4, "in") + bytes_field(4, "w") + bytes_field(5, "out") +
              bytes_field(7, onnx_node("Constant", {}, "target", {reference})) +
              bytes_field(7, onnx_node("Reshape", {"in", "target"}, "rows")) +
              bytes_field(7, onnx_node("MatMul", {"rows", "w"}, "out")) + bytes_field(10, "mine"));
}

TEST(OnnxControl, AFunctionIsFollowedWithTheSizesAndAttributesOfEachCall) {
  const auto call = [](const std::string& of, const std::string& w, const std::string& to, uint64_t rows,
                       uint64_t width) {
    return onnx_node("Block", {of, w}, to, {onnx_ints("shape", {rows, width})}) + bytes_field(7, "mine");
  };
  const OnnxFile file = {
      .nodes = {call("x", "a", "y", 6, 40), call("y", "b", "z", 12, 10),
                onnx_node("MatMul", {"z", "c"}, "end")},
      .tensors = {onnx_tensor("a", {40, 20}), onnx_tensor("b", {10, 30}), onnx_tensor("c", {30, 8})},
      .inputs = {onnx_value("x", {{6, ""}, {40, ""}})}};
  const Result<Model> model = read(file, block());
  const Derived derived = products(model);
  EXPECT_EQ(product(derived, "Block node of y/MatMul node of out"), "6 x 20 x 40, NN, 1 times");
  EXPECT_EQ(product(derived, "Block node of z/MatMul node of out"), "12 x 30 x 10, NN, 1 times");
  EXPECT_EQ(product(derived, "MatMul node of end"), "12 x 8 x 30, NN, 1 times");
  EXPECT_EQ(find(derived, "MatMul node of end")->weight_elements, 240);
  EXPECT_THAT(model->notes, IsEmpty());
}

TEST(OnnxControl, AFunctionThatCallsItselfEnds) {
  const std::string twice =
      bytes_field(25, bytes_field(1, "Twice") + bytes_field(4, "in") + bytes_field(5, "out") +
                          bytes_field(7, onnx_node("Twice", {"in"}, "half") + bytes_field(7, "mine")) +
                          bytes_field(7, onnx_node("Twice", {"half"}, "out") + bytes_field(7, "mine")) +
                          bytes_field(10, "mine"));
  const OnnxFile file = {.nodes = {onnx_node("MatMul", {"x", "w"}, "y"),
                                   onnx_node("Twice", {"y"}, "z") + bytes_field(7, "mine")},
                         .tensors = {onnx_tensor("w", {64, 32})},
                         .inputs = {onnx_value("x", {{2, ""}, {64, ""}})}};
  const Result<Model> model = read(file, twice);
  ASSERT_TRUE(model);
  EXPECT_THAT(model->notes, Contains(HasSubstr("functions call each other more than 8 deep")));
}

TEST(OnnxControl, BodiesWithinBodiesBeyondTheirLimitAreNamed) {
  std::string graph = graph_of({onnx_node("MatMul", {"y", "v"}, "r")}, {}, {"r"});
  for (int i = 0; i < 40; ++i)
    graph = graph_of({onnx_node("If", {"flag"}, "r",
                                {body("then_branch", graph), body("else_branch", graph_of({}, {}, {"y"}))})},
                     {}, {"r"});
  const OnnxFile file = {
      .nodes = {onnx_node("MatMul", {"x", "w"}, "y"),
                onnx_node("If", {"flag"}, "z", {body("then_branch", graph), body("else_branch", graph)})},
      .tensors = {onnx_tensor("w", {64, 32}), onnx_tensor("v", {32, 16})},
      .inputs = {onnx_value("x", {{5, ""}, {64, ""}}), onnx_value("flag", {})}};
  const Result<Model> model = read(file);
  ASSERT_TRUE(model);
  EXPECT_THAT(model->notes, Contains(HasSubstr("bodies are nested more than 8 deep")));
}

// ---- convolutions over one and three dimensions

OnnxFile convolution(const std::string& type, const std::vector<std::pair<uint64_t, std::string>>& input,
                     const std::vector<uint64_t>& weights, const std::vector<std::string>& attributes) {
  return {.nodes = {onnx_node(type, {"x", "w"}, "y", attributes)},
          .tensors = {onnx_tensor("w", weights)},
          .inputs = {onnx_value("x", input)}};
}

// 100 samples, kernel 3, stride 2, one sample of padding each side: (100 + 2 - 3) / 2 + 1 = 50.
TEST(OnnxConvolution, OverOneDimension) {
  const Derived derived = products(read(convolution("Conv", {{2, ""}, {80, ""}, {100, ""}}, {384, 80, 3},
                                                    {onnx_ints("strides", {2}), onnx_ints("pads", {1, 1})})));
  const Operation* conv = find(derived, "Conv node of y");
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(describe(*conv), "80 -> 384 channels, 3 x 1 kernel, 2 x 100 x 1");
  EXPECT_EQ(flops(*conv), 2.0 * 2 * 50 * 384 * 80 * 3);
}

// Transposed: 2 x (100 - 1) + 3 - 2 = 199 samples come out of 100; it is the gradient of 384 -> 80.
TEST(OnnxConvolution, TransposedOverOneDimension) {
  const Derived derived =
      products(read(convolution("ConvTranspose", {{2, ""}, {80, ""}, {100, ""}}, {80, 384, 3},
                                {onnx_ints("strides", {2}), onnx_ints("pads", {1, 1})})));
  const Operation* conv = find(derived, "ConvTranspose node of y");
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(describe(*conv), "384 -> 80 channels, 3 x 1 kernel, 2 x 199 x 1");
  EXPECT_EQ(flops(*conv), 2.0 * 2 * 100 * 384 * 80 * 3);
}

// 16 frames of 224 x 224 in tubes of 2 x 16 x 16: 8 x 14 x 14 places.
TEST(OnnxConvolution, OverThreeDimensionsHasNoTimeButTheLeast) {
  const Derived derived =
      products(read(convolution("Conv", {{4, ""}, {3, ""}, {16, ""}, {224, ""}, {224, ""}},
                                {768, 3, 2, 16, 16}, {onnx_ints("strides", {2, 16, 16})})));
  const Operation* conv = find(derived, "Conv node of y");
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(describe(*conv), "3 -> 768 channels, 2 x 16 x 16 kernel, 4 x 16 x 224 x 224");
  EXPECT_EQ(flops(*conv), 2.0 * 4 * 8 * 14 * 14 * 768 * 3 * 2 * 16 * 16);
  // bf16: the frames, what comes out, the weights.
  EXPECT_EQ(bytes(*conv),
            2.0 * (4.0 * 3 * 16 * 224 * 224 + 4.0 * 768 * 8 * 14 * 14 + 768.0 * 3 * 2 * 16 * 16));
  EXPECT_EQ(conv->weight_elements, 768.0 * 3 * 2 * 16 * 16);
  const TimeTable table(*gpu::find_gpu("h200"));
  EXPECT_FALSE(table.time(*conv));
  EXPECT_GT(table.least_us(*conv), 0);
}

TEST(OnnxConvolution, TransposedOverThreeDimensions) {
  const Derived derived =
      products(read(convolution("ConvTranspose", {{1, ""}, {64, ""}, {4, ""}, {8, ""}, {8, ""}},
                                {64, 32, 2, 2, 2}, {onnx_ints("strides", {2, 2, 2})})));
  const Operation* conv = find(derived, "ConvTranspose node of y");
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(describe(*conv), "32 -> 64 channels, 2 x 2 x 2 kernel, 1 x 8 x 16 x 16");
}

}  // namespace
}  // namespace fullwarp::shapes
