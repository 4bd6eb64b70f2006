// Sizes of graphs that declare nothing but their inputs, as exporters write them: attention whose Reshapes
// have computed targets, convolutions with strides and groups, caches, and what cannot be known. Sizes by
// hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "files.h"
#include "products.h"
#include "shapes/onnx_infer.h"
#include "shapes/read.h"

namespace fullwarp::shapes {
namespace {

using namespace test;  // the builders of files.h
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Result<Model> read(const OnnxFile& graph, const RunOptions& run = {}) {
  const std::string bytes = graph.model();
  return read_onnx(*bytes_of(bytes), "m.onnx", run);
}

// The products of a graph that must be readable.
Derived products(const OnnxFile& graph, const RunOptions& run = {}) {
  const Result<Model> model = read(graph, run);
  EXPECT_TRUE(model) << model.error().to_string();
  return model ? derive(*model, run) : Derived{};
}

std::vector<std::string> notes(const OnnxFile& graph, const RunOptions& run = {}) {
  const Result<Model> model = read(graph, run);
  EXPECT_TRUE(model) << model.error().to_string();
  return model ? model->notes : std::vector<std::string>();
}

// view(x.size(0), x.size(1), heads, size).transpose(1, 2), as torch.onnx.export writes it.
void split_heads(OnnxFile& graph, const std::string& of, const std::string& to, int64_t heads, int64_t size) {
  const std::string p = to + ".";
  const auto node = [&](std::string bytes) { graph.nodes.push_back(std::move(bytes)); };
  for (const char* which : {"0", "1"}) {
    node(onnx_node("Shape", {of}, p + "shape" + which));
    node(onnx_node("Constant", {}, p + "index" + which, {onnx_numbers("value", {}, {std::stoi(which)})}));
    node(onnx_node("Gather", {p + "shape" + which, p + "index" + which}, p + "size" + which,
                   {onnx_int("axis", 0)}));
    node(onnx_node("Unsqueeze", {p + "size" + which, "axes0"}, p + "part" + which));
  }
  node(onnx_node("Constant", {}, p + "heads", {onnx_numbers("value", {1}, {heads})}));
  node(onnx_node("Constant", {}, p + "head_size", {onnx_numbers("value", {1}, {size})}));
  node(onnx_node("Concat", {p + "part0", p + "part1", p + "heads", p + "head_size"}, p + "target",
                 {onnx_int("axis", 0)}));
  node(onnx_node("Reshape", {of, p + "target"}, p + "view"));
  node(onnx_node("Transpose", {p + "view"}, to, {onnx_ints("perm", {0, 2, 1, 3})}));
}

// One layer of attention and an MLP on `x`, hidden 96, 4 heads of 24, MLP 300; its result is p + "out".
void layer(OnnxFile& graph, const std::string& x, const std::string& p) {
  const auto node = [&](std::string bytes) { graph.nodes.push_back(std::move(bytes)); };
  for (const char* which : {"q", "k", "v"}) {
    node(onnx_node("MatMul", {x, p + "w" + which}, p + which));
    node(onnx_node("Add", {p + which, p + "bias"}, p + which + "b"));
    graph.tensors.push_back(onnx_tensor(p + "w" + which, {96, 96}));
    split_heads(graph, p + which + "b", p + which + "h", 4, 24);
  }
  graph.tensors.push_back(onnx_tensor(p + "bias", {96}));
  node(onnx_node("Transpose", {p + "kh"}, p + "kt", {onnx_ints("perm", {0, 1, 3, 2})}));
  node(onnx_node("MatMul", {p + "qh", p + "kt"}, p + "scores"));
  node(onnx_node("Div", {p + "scores", "scale"}, p + "scaled"));
  node(onnx_node("Softmax", {p + "scaled"}, p + "soft", {onnx_int("axis", 3)}));
  node(onnx_node("MatMul", {p + "soft", p + "vh"}, p + "mixed"));
  node(onnx_node("Transpose", {p + "mixed"}, p + "turned", {onnx_ints("perm", {0, 2, 1, 3})}));
  graph.tensors.push_back(onnx_numbers_tensor(p + "flat", {3}, {0, 0, 96}));
  node(onnx_node("Reshape", {p + "turned", p + "flat"}, p + "joined"));
  graph.tensors.push_back(onnx_tensor(p + "wo", {96, 96}));
  node(onnx_node("MatMul", {p + "joined", p + "wo"}, p + "o"));
  node(onnx_node("Add", {p + "o", x}, p + "sum"));
  node(onnx_node("LayerNormalization", {p + "sum", p + "bias", p + "bias"}, p + "normed"));
  graph.tensors.push_back(onnx_tensor(p + "wu", {96, 300}));
  node(onnx_node("MatMul", {p + "normed", p + "wu"}, p + "up"));
  node(onnx_node("Gelu", {p + "up"}, p + "act"));
  graph.tensors.push_back(onnx_tensor(p + "wd", {300, 96}));
  node(onnx_node("MatMul", {p + "act", p + "wd"}, p + "out"));
}

OnnxFile two_layers() {
  OnnxFile graph = {.nodes = {onnx_node("Gather", {"words", "ids"}, "x")},
                    .tensors = {onnx_tensor("words", {1000, 96}), onnx_numbers_tensor("axes0", {1}, {0}),
                                onnx_tensor("scale", {})},
                    .inputs = {onnx_value("ids", {{0, "batch_size"}, {0, "sequence_length"}})}};
  layer(graph, "x", "a.");
  layer(graph, "a.out", "b.");
  return graph;
}

TEST(OnnxInfer, AttentionWithComputedTargetsIsCountedInBothLayers) {
  const Derived derived = products(two_layers(), {.batch = 3, .sequence = 40});
  // 3 x 40 tokens; 3 sequences x 4 heads; 40 x 40 scores over heads of 24.
  EXPECT_EQ(product(derived, "MatMul node of a.q"), "120 x 96 x 96, NN, 8 times");
  EXPECT_EQ(product(derived, "MatMul node of a.scores"), "40 x 40 x 24, NN, batch 12, 2 times");
  EXPECT_EQ(product(derived, "MatMul node of a.mixed"), "40 x 24 x 40, NN, batch 12, 2 times");
  EXPECT_EQ(product(derived, "MatMul node of a.up"), "120 x 300 x 96, NN, 2 times");
  EXPECT_EQ(product(derived, "MatMul node of a.out"), "120 x 96 x 300, NN, 2 times");
  ASSERT_NE(find(derived, "Gather node of x"), nullptr);
  EXPECT_EQ(std::get<Gather>(find(derived, "Gather node of x")->work).rows, 120);
  EXPECT_EQ(derived.operations.size(), 6u);
  EXPECT_THAT(notes(two_layers()), ElementsAre());
}

TEST(OnnxInfer, ACacheIsJoinedToTheKeys) {
  const OnnxFile graph = {
      .nodes = {onnx_node("Concat", {"past", "new"}, "keys", {onnx_int("axis", 2)}),
                onnx_node("Transpose", {"keys"}, "kt", {onnx_ints("perm", {0, 1, 3, 2})}),
                onnx_node("MatMul", {"q", "kt"}, "scores"), onnx_node("Add", {"scores", "mask"}, "masked"),
                onnx_node("Softmax", {"masked"}, "soft"), onnx_node("MatMul", {"soft", "keys"}, "mixed")},
      .inputs = {
          onnx_value("past", {{0, "batch"}, {8, ""}, {0, "past_sequence_length"}, {64, ""}}),
          onnx_value("new", {{0, "batch"}, {8, ""}, {0, "sequence_length"}, {64, ""}}),
          onnx_value("q", {{0, "batch"}, {8, ""}, {0, "seq_len"}, {64, ""}}),
          onnx_value("mask", {{0, "batch"}, {1, ""}, {0, "sequence_length"}, {0, "total_sequence_length"}})}};
  const Derived derived = products(graph, {.batch = 2, .sequence = 1, .cached = 500});
  EXPECT_EQ(product(derived, "MatMul node of scores"), "1 x 501 x 64, NN, batch 16, 1 times");
  EXPECT_EQ(product(derived, "MatMul node of mixed"), "1 x 64 x 501, NN, batch 16, 1 times");
  // Without a cache the past has no tokens.
  EXPECT_EQ(product(products(graph, {.batch = 2, .sequence = 7}), "MatMul node of scores"),
            "7 x 7 x 64, NN, batch 16, 1 times");
}

TEST(OnnxInfer, AxesHaveTheirNamesMeaning) {
  const RunOptions run = {.batch = 3, .sequence = 10, .cached = 100, .axes = {{"height", 224}}};
  EXPECT_EQ(size_of_axis("batch_size", run), 3);
  EXPECT_EQ(size_of_axis("N", run), 3);
  EXPECT_EQ(size_of_axis("sequence", run), 10);
  EXPECT_EQ(size_of_axis("past_sequence_length", run), 100);
  EXPECT_EQ(size_of_axis("past_sequence_length + sequence_length", run), 110);
  EXPECT_EQ(size_of_axis("past_sequence_length + 1", run), 101);
  EXPECT_EQ(size_of_axis("total_sequence_length", run), 110);
  EXPECT_EQ(size_of_axis("height", run), 224);
  EXPECT_EQ(size_of_axis("width", run), kUnknownSize);
  EXPECT_EQ(size_of_axis("batch_size * sequence", run), kUnknownSize);
  EXPECT_EQ(size_of_axis("", run), kUnknownSize);
}

TEST(OnnxInfer, AFirstAxisOfUnknownMeaningIsTheBatchEverywhere) {
  const OnnxFile graph = {.nodes = {onnx_node("MatMul", {"mask", "x"}, "y")},
                          .inputs = {onnx_value("x", {{0, "patches"}, {40, ""}}),
                                     onnx_value("mask", {{1, ""}, {0, "patches"}, {0, "patches"}})}};
  EXPECT_EQ(product(products(graph, {.batch = 6}), "MatMul node of y"), "6 x 40 x 6, NN, 1 times");
  EXPECT_THAT(notes(graph), ElementsAre("the first axis of input `x` is `patches`: it is taken as the batch; "
                                        "--axis patches=N sets it"));
  const RunOptions set = {.batch = 6, .axes = {{"patches", 300}}};
  EXPECT_EQ(product(products(graph, set), "MatMul node of y"), "300 x 40 x 300, NN, 1 times");
  EXPECT_THAT(notes(graph, set), ElementsAre());
}

TEST(OnnxInfer, ConvolutionsWithStridesGroupsAndAutomaticPads) {
  const OnnxFile graph = {
      .nodes = {onnx_node("Conv", {"image", "w1"}, "a",
                          {onnx_ints("strides", {2, 2}), onnx_text("auto_pad", "SAME_UPPER")}),
                onnx_node("AveragePool", {"a"}, "b",
                          {onnx_ints("kernel_shape", {3, 3}), onnx_ints("strides", {2, 2}),
                           onnx_int("ceil_mode", 1)}),
                onnx_node(
                    "Conv", {"b", "w2"}, "c",
                    {onnx_int("group", 8), onnx_ints("dilations", {2, 2}), onnx_ints("pads", {2, 2, 2, 2})}),
                onnx_node("Resize", {"c", "", "factors"}, "d"),
                onnx_node("Concat", {"d", "d"}, "e", {onnx_int("axis", 1)}),
                onnx_node("ConvTranspose", {"e", "w3"}, "f", {onnx_ints("strides", {2, 2})}),
                onnx_node("ReduceMean", {"f"}, "g", {onnx_ints("axes", {2, 3}), onnx_int("keepdims", 0)}),
                onnx_node("Gemm", {"g", "w4"}, "h", {onnx_int("transB", 1)})},
      .tensors = {onnx_tensor("w1", {16, 3, 3, 3}), onnx_tensor("w2", {32, 2, 3, 3}),
                  onnx_floats_tensor("factors", {1, 1, 2, 2}), onnx_tensor("w3", {64, 20, 2, 2}),
                  onnx_tensor("w4", {10, 20})},
      .inputs = {onnx_value("image", {{0, "N"}, {3, ""}, {0, "height"}, {33, ""}})}};
  const Derived derived = products(graph, {.batch = 4, .axes = {{"height", 45}}});
  // SAME with stride 2: 45 -> 23, 33 -> 17; the pool with ceil: (23 - 3) / 2 + 1 = 11, (17 - 3) / 2 + 1 = 8.
  EXPECT_EQ(product(derived, "Conv node of a"), "3 -> 16 channels, 3 x 3 kernel, 4 x 45 x 33, 1 times");
  EXPECT_EQ(std::get<Conv>(find(derived, "Conv node of a")->work).out_height, 23);
  // Dilation 2 makes the kernel 5 wide, which the pads of 2 make up for.
  EXPECT_EQ(product(derived, "Conv node of c"),
            "16 -> 32 channels in 8 groups, 3 x 3 kernel, 4 x 11 x 8, 1 times");
  // Twice as large and twice as many channels: 64 x 22 x 16. Stride 2, kernel 2: 44 x 32 with 20 channels,
  // which is the gradient of a convolution of 20 channels to 64.
  const Operation* turned = find(derived, "ConvTranspose node of f");
  ASSERT_NE(turned, nullptr);
  const Conv& f = std::get<Conv>(turned->work);
  EXPECT_EQ(f.step, Step::input_gradient);
  EXPECT_THAT((std::vector<int64_t>{f.batch, f.in, f.out, f.height, f.width, f.out_height, f.out_width}),
              ElementsAre(4, 20, 64, 44, 32, 22, 16));
  EXPECT_EQ(flops(*turned), 2.0 * 4 * 22 * 16 * 64 * 20 * 2 * 2);
  EXPECT_EQ(product(derived, "Gemm node of h"), "4 x 10 x 20, NT, 1 times");
}

TEST(OnnxInfer, SplitSliceExpandAndEinsum) {
  const OnnxFile graph = {
      .nodes = {onnx_node("MatMul", {"x", "w"}, "qkv"),  // [2, 6, 96]
                onnx_nodes("Split", {"qkv"}, {"q", "k", "v"}, {onnx_int("axis", 2)}),
                onnx_node("Slice", {"k", "one", "end", "one"}, "tail"),  // [2, 5, 32]
                onnx_node("Einsum", {"q", "tail"}, "scores", {onnx_text("equation", "bid,bjd->bij")}),
                onnx_node("Expand", {"row", "target"}, "rows"),  // [7, 5]
                onnx_node("MatMul", {"rows", "tail"}, "mixed")},
      .tensors = {onnx_tensor("w", {96, 96}), onnx_numbers_tensor("one", {1}, {1}),
                  onnx_numbers_tensor("end", {1}, {int64_t{1} << 62}), onnx_tensor("row", {1, 5}),
                  onnx_numbers_tensor("target", {2}, {7, 1})},
      .inputs = {onnx_value("x", {{2, ""}, {6, ""}, {96, ""}})}};
  const Derived derived = products(graph);
  EXPECT_EQ(product(derived, "MatMul node of qkv"), "12 x 96 x 96, NN, 1 times");
  EXPECT_EQ(product(derived, "Einsum node of scores"), "6 x 5 x 32, NT, batch 2, 1 times");
  EXPECT_EQ(product(derived, "MatMul node of mixed"), "7 x 32 x 5, NN, batch 2, 1 times");
}

// PyTorch's F.pad: the pads are reshaped, reversed and turned by nodes. expand(-1, ...): Where picks the
// ones.
TEST(OnnxInfer, SmallTensorsAreComputed) {
  const OnnxFile graph = {
      .nodes = {onnx_node("Reshape", {"pads", "pairs"}, "p1"),  // [[1, 2], [3, 4], [0, 0], [0, 0]]
                onnx_node("Slice", {"p1", "last", "before", "zero", "back"}, "p2"),
                onnx_node("Transpose", {"p2"}, "p3", {onnx_ints("perm", {1, 0})}),
                onnx_node("Reshape", {"p3", "flat"}, "p4"),  // 0 0 3 1 0 0 4 2
                onnx_node("Pad", {"x", "p4"}, "padded"), onnx_node("Conv", {"padded", "w"}, "y"),
                onnx_node("ConstantOfShape", {"two"}, "ones", {onnx_numbers("value", {1}, {1})}),
                onnx_node("Mul", {"ones", "minus"}, "minuses"),
                onnx_node("Equal", {"wish", "minuses"}, "open"),
                onnx_node("Where", {"open", "ones", "wish"}, "target"),  // 1, 9
                onnx_node("Expand", {"column", "target"}, "wide"), onnx_node("MatMul", {"wide", "m"}, "z")},
      .tensors = {onnx_numbers_tensor("pads", {8}, {1, 2, 3, 4, 0, 0, 0, 0}),
                  onnx_numbers_tensor("pairs", {2}, {-1, 2}), onnx_numbers_tensor("last", {1}, {-1}),
                  onnx_numbers_tensor("before", {1}, {-(int64_t{1} << 62)}),
                  onnx_numbers_tensor("zero", {1}, {0}), onnx_numbers_tensor("back", {1}, {-1}),
                  onnx_numbers_tensor("flat", {1}, {-1}), onnx_numbers_tensor("two", {1}, {2}),
                  onnx_numbers_tensor("minus", {}, {-1}), onnx_numbers_tensor("wish", {2}, {-1, 9}),
                  onnx_tensor("w", {8, 3, 1, 1}), onnx_tensor("m", {9, 4})},
      .inputs = {onnx_value("x", {{1, ""}, {3, ""}, {10, ""}, {20, ""}}),
                 onnx_value("column", {{6, ""}, {1, ""}})}};
  const Derived derived = products(graph);
  EXPECT_EQ(product(derived, "Conv node of y"), "3 -> 8 channels, 1 x 1 kernel, 1 x 17 x 23, 1 times");
  EXPECT_EQ(product(derived, "MatMul node of z"), "6 x 4 x 9, NN, 1 times");
}

TEST(OnnxInfer, FusedAttentionOfOnnxRuntime) {
  const OnnxFile graph = {
      .nodes = {onnx_node("MultiHeadAttention", {"q", "k", "k"}, "a", {onnx_int("num_heads", 12)}),
                onnx_node("GroupQueryAttention", {"q", "g", "g", "past", "past"}, "b",
                          {onnx_int("num_heads", 12), onnx_int("kv_num_heads", 4)}),
                onnx_node("MatMul", {"b", "w"}, "c")},
      .tensors = {onnx_tensor("w", {768, 3072})},
      .inputs = {onnx_value("q", {{2, ""}, {16, ""}, {768, ""}}),
                 onnx_value("k", {{2, ""}, {30, ""}, {768, ""}}),
                 onnx_value("g", {{2, ""}, {16, ""}, {256, ""}}),
                 onnx_value("past", {{2, ""}, {4, ""}, {100, ""}, {64, ""}})}};
  const Derived derived = products(graph);
  const Attention dense = std::get<Attention>(find(derived, "MultiHeadAttention node of a")->work);
  EXPECT_THAT((std::vector<int64_t>{dense.batch, dense.heads, dense.kv_heads, dense.queries, dense.keys,
                                    dense.head_size}),
              ElementsAre(2, 12, 12, 16, 30, 64));
  EXPECT_FALSE(dense.causal);
  const Attention grouped = std::get<Attention>(find(derived, "GroupQueryAttention node of b")->work);
  EXPECT_THAT((std::vector<int64_t>{grouped.heads, grouped.kv_heads, grouped.queries, grouped.keys,
                                    grouped.head_size}),
              ElementsAre(12, 4, 16, 116, 64));
  EXPECT_TRUE(grouped.causal);
  EXPECT_EQ(product(derived, "MatMul node of c"), "32 x 3072 x 768, NN, 1 times");
}

TEST(OnnxInfer, RecurrentLayersHaveTwoProducts) {
  const OnnxFile graph = {
      .nodes = {onnx_nodes("LSTM", {"x", "w", "r"}, {"y", "last"}, {onnx_int("hidden_size", 50)}),
                onnx_node("Squeeze", {"last", "front"}, "z"), onnx_node("MatMul", {"z", "v"}, "o")},
      .tensors = {onnx_tensor("w", {1, 200, 80}), onnx_tensor("r", {1, 200, 50}), onnx_tensor("v", {50, 7}),
                  onnx_numbers_tensor("front", {1}, {0})},
      .inputs = {onnx_value("x", {{12, ""}, {3, ""}, {80, ""}})}};
  const Derived derived = products(graph);
  EXPECT_EQ(product(derived, "LSTM node of y inputs"), "36 x 200 x 80, NT, 1 times");
  EXPECT_EQ(product(derived, "LSTM node of y states"), "3 x 200 x 50, NT, 12 times");
  EXPECT_EQ(product(derived, "MatMul node of o"), "3 x 7 x 50, NN, 1 times");
}

TEST(OnnxInfer, WhatCannotBeKnownIsNamed) {
  const OnnxFile graph = {
      .nodes = {onnx_node("MatMul", {"x", "w"}, "fine"), onnx_node("NonZero", {"x"}, "places"),
                onnx_node("Transpose", {"places"}, "turned"), onnx_node("MatMul", {"turned", "x"}, "lost"),
                onnx_node("Conv", {"image", "kernel"}, "seen"), onnx_node("Mystery", {"x"}, "odd"),
                onnx_node("MatMul", {"odd", "odd"}, "odder"), onnx_node("MatMul", {"x", "nowhere"}, "gone"),
                onnx_node("MatMul", {"x", "narrow"}, "wrong"),
                onnx_node("GemmFloat8", {"x", "w"}, "special")},
      .tensors = {onnx_tensor("w", {64, 32}), onnx_tensor("kernel", {8, 3, 3, 3}),
                  onnx_tensor("narrow", {63, 8})},
      .inputs = {onnx_value("x", {{2, ""}, {64, ""}}),
                 onnx_value("image", {{1, ""}, {3, ""}, {0, "height"}, {0, "width"}})}};
  EXPECT_EQ(product(products(graph), "MatMul node of fine"), "2 x 32 x 64, NN, 1 times");
  const std::vector<std::string> said = notes(graph);
  EXPECT_THAT(said,
              Contains("1 products are left out, because the size of `places` is not known behind NonZero "
                       "node of places: MatMul node of lost (input 1)"));
  EXPECT_THAT(said,
              Contains("1 products are left out, because axis 2 of the graph's input `image` is `height`: "
                       "set it with --axis height=N: Conv node of seen (input 1)"));
  EXPECT_THAT(said,
              Contains("1 products are left out, because the size of `odd` is not known behind Mystery node "
                       "of odd: MatMul node of odder (input 1)"));
  EXPECT_THAT(said,
              Contains("1 products are left out, because `nowhere` is no input, tensor or result of a node "
                       "before: MatMul node of gone (input 2)"));
  EXPECT_THAT(
      said, Contains("1 products are left out, because its inputs' sizes do not fit: MatMul node of wrong"));
  EXPECT_THAT(
      said, Contains("1 products are left out, because this operation is not known here: GemmFloat8 node of "
                     "special"));
  EXPECT_EQ(said.size(), 6u);
  // With the sizes given: 20 - 2 = 18 by 30 - 2 = 28.
  const Derived sized = products(graph, {.axes = {{"height", 20}, {"image:3", 30}}});
  EXPECT_EQ(product(sized, "Conv node of seen"), "3 -> 8 channels, 3 x 3 kernel, 1 x 20 x 30, 1 times");
  EXPECT_THAT(notes(graph, {.axes = {{"depth", 3}}}), Contains(HasSubstr("no axis of this name")));
}

TEST(OnnxInfer, OperationsFromElsewhereAreNamed) {
  const OnnxFile graph = {.nodes = {onnx_node("MatMul", {"x", "w"}, "y"),
                                    onnx_node("Fancy", {"y"}, "u") + bytes_field(7, "vendor")},
                          .tensors = {onnx_tensor("w", {64, 32})},
                          .inputs = {onnx_value("x", {{2, ""}, {64, ""}})}};
  EXPECT_THAT(notes(graph), ElementsAre(HasSubstr("1 nodes are of operations that are not known here")));
}

TEST(OnnxInfer, TheTypeOfTheWeightsCountsUnlessAskedOtherwise) {
  OnnxFile graph = {.nodes = {onnx_node("MatMul", {"x", "w"}, "y")},
                    .tensors = {onnx_tensor("w", {64, 32}, 0, 10)},  // float16
                    .inputs = {onnx_value("x", {{2, ""}, {64, ""}})}};
  const auto type = [&](const RunOptions& run) {
    return std::get<Gemm>(find(products(graph, run), "MatMul node of y")->work).dtype;
  };
  EXPECT_EQ(type({}), Dtype::fp16);
  EXPECT_EQ(type({.dtype = Dtype::tf32, .dtype_asked = true}), Dtype::tf32);
}

// Sizes that overflow, axes beyond the rank, nodes that read themselves, tensors of many elements.
TEST(OnnxInfer, HostileGraphsAreRefusedOrLeftOut) {
  const int64_t huge = int64_t{1} << 62;
  OnnxFile graph = {
      .nodes = {onnx_node("Add", {"loop"}, "loop"), onnx_node("Tile", {"x", "many"}, "t1"),
                onnx_node("Tile", {"t1", "many"}, "t2"), onnx_node("MatMul", {"t2", "t2"}, "p1"),
                onnx_node("Transpose", {"x"}, "t3", {onnx_ints("perm", {0, 7})}),
                onnx_node("Gather", {"many", "many"}, "t4", {onnx_int("axis", 5)}),
                onnx_node("ConstantOfShape", {"many"}, "t5"), onnx_node("Range", {"a", "b", "c"}, "t6"),
                onnx_node("Slice", {"x", "many", "many", "many", "none"}, "t7"),
                onnx_node("Flatten", {"x"}, "t8", {onnx_int("axis", static_cast<uint64_t>(huge))}),
                onnx_node("Conv", {"image", "w"}, "t9", {onnx_ints("strides", {0, 0})}),
                onnx_node("Split", {"x"}, "t10", {onnx_int("axis", 9)}),
                onnx_node("Mod", {"many", "none"}, "t11"), onnx_node("MatMul", {"x", "v"}, "good")},
      .tensors = {onnx_numbers_tensor("many", {2}, {huge, huge}), onnx_numbers_tensor("none", {2}, {0, 0}),
                  onnx_numbers_tensor("a", {}, {0}), onnx_numbers_tensor("b", {}, {huge}),
                  onnx_numbers_tensor("c", {}, {-1}), onnx_tensor("w", {8, 3, 3, 3}),
                  onnx_tensor("v", {64, 8})},
      .inputs = {onnx_value("x", {{2, ""}, {64, ""}}),
                 onnx_value("image", {{1, ""}, {3, ""}, {9, ""}, {9, ""}})}};
  const Derived derived = products(graph);
  EXPECT_EQ(derived.operations.size(), 1u);
  EXPECT_EQ(product(derived, "MatMul node of good"), "2 x 8 x 64, NN, 1 times");
}

}  // namespace
}  // namespace fullwarp::shapes
