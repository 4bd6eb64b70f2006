// ONNX graphs of our own making: products, convolutions, and sizes carried from node to node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "files.h"
#include "products.h"
#include "shapes/read.h"

namespace fullwarp::shapes {
namespace {

using namespace test;  // the builders of files.h
using testing::HasSubstr;

Result<Model> read(const std::string& bytes, const RunOptions& run = {}) {
  return read_onnx(*bytes_of(bytes), "m.onnx", run);
}

TEST(Onnx, ConvolutionsCarryTheirSizesForward) {
  const OnnxFile graph = {
      .nodes = {onnx_node("Conv", {"image", "w1"}, "a",
                          {onnx_ints("strides", {2, 2}), onnx_ints("pads", {3, 3, 3, 3})}),
                onnx_node("Relu", {"a"}, "b"),
                onnx_node("MaxPool", {"b"}, "c",
                          {onnx_ints("kernel_shape", {3, 3}), onnx_ints("strides", {2, 2}),
                           onnx_ints("pads", {1, 1, 1, 1})}),
                onnx_node("Conv", {"c", "w2"}, "d", {onnx_ints("pads", {1, 1, 1, 1})}),
                onnx_node("GlobalAveragePool", {"d"}, "e"), onnx_node("Flatten", {"e"}, "f"),
                onnx_node("Gemm", {"f", "w3"}, "g", {onnx_int("transB", 1)})},
      .tensors = {onnx_tensor("w1", {64, 3, 7, 7}, 1000), onnx_tensor("w2", {255, 64, 3, 3}),
                  onnx_tensor("w3", {1000, 255})},
      .inputs = {onnx_value("image", {{0, "N"}, {3, ""}, {224, ""}, {224, ""}})}};
  const Result<Model> model = read(graph.model(), {.batch = 32});
  ASSERT_TRUE(model) << model.error().to_string();
  const Derived derived = derive(*model, {});
  // (224 + 6 - 7) / 2 + 1 = 112; (112 + 2 - 3) / 2 + 1 = 56.
  EXPECT_EQ(product(derived, "Conv node of a"), "3 -> 64 channels, 7 x 7 kernel, 32 x 224 x 224, 1 times");
  EXPECT_EQ(std::get<Conv>(find(derived, "Conv node of a")->work).out_height, 112);
  EXPECT_EQ(product(derived, "Conv node of d"), "64 -> 255 channels, 3 x 3 kernel, 32 x 56 x 56, 1 times");
  EXPECT_EQ(product(derived, "Gemm node of g"), "32 x 1000 x 255, NT, 1 times");
}

TEST(Onnx, GroupsShareTheChannels) {
  const OnnxFile graph = {
      .nodes = {onnx_node("Conv", {"x", "deep"}, "a",
                          {onnx_int("group", 32), onnx_ints("pads", {1, 1, 1, 1})}),
                onnx_node("Conv", {"a", "grouped"}, "b", {onnx_int("group", 4)})},
      .tensors = {onnx_tensor("deep", {32, 1, 3, 3}), onnx_tensor("grouped", {64, 8, 1, 1})},
      .inputs = {onnx_value("x", {{2, ""}, {32, ""}, {28, ""}, {28, ""}})}};
  const Result<Model> model = read(graph.model());
  ASSERT_TRUE(model) << model.error().to_string();
  const Derived derived = derive(*model, {});
  EXPECT_EQ(product(derived, "Conv node of a"),
            "32 -> 32 channels in 32 groups, 3 x 3 kernel, 2 x 28 x 28, 1 times");
  EXPECT_EQ(product(derived, "Conv node of b"),
            "32 -> 64 channels in 4 groups, 1 x 1 kernel, 2 x 28 x 28, 1 times");
  // Each output element of a depthwise convolution is 9 multiplications and additions; of b, 8 channels of a
  // group.
  EXPECT_EQ(flops(*find(derived, "Conv node of a")), 2.0 * 2 * 28 * 28 * 32 * 9);
  EXPECT_EQ(flops(*find(derived, "Conv node of b")), 2.0 * 2 * 28 * 28 * 64 * 8);
  EXPECT_EQ(find(derived, "Conv node of a")->weight_elements, 32.0 * 9);
  const Derived padded = derive(with_number(*model, {"32", 32, 0, true, {}}, 40), {});
  EXPECT_EQ(product(padded, "Conv node of a"),
            "40 -> 40 channels in 40 groups, 3 x 3 kernel, 2 x 28 x 28, 1 times");
  EXPECT_EQ(find(padded, "Conv node of a")->weight_elements, 40.0 * 9);
}

TEST(Onnx, BackwardHasTheGradientsOfAllButTheInput) {
  const OnnxFile graph = {
      .nodes = {onnx_node("Conv", {"x", "w1"}, "a"), onnx_node("Conv", {"a", "w2"}, "b"),
                onnx_node("GlobalAveragePool", {"b"}, "c"), onnx_node("Flatten", {"c"}, "d"),
                onnx_node("Gemm", {"d", "w3"}, "e", {onnx_int("transB", 1)})},
      .tensors = {onnx_tensor("w1", {64, 3, 1, 1}), onnx_tensor("w2", {128, 64, 1, 1}),
                  onnx_tensor("w3", {10, 128})},
      .inputs = {onnx_value("x", {{8, ""}, {3, ""}, {14, ""}, {14, ""}})}};
  const Result<Model> model = read(graph.model());
  ASSERT_TRUE(model) << model.error().to_string();
  const Derived derived = derive(*model, {.backward = true});
  EXPECT_EQ(find(derived, "Conv node of a", Step::input_gradient), nullptr);
  EXPECT_NE(find(derived, "Conv node of a", Step::weight_gradient), nullptr);
  EXPECT_NE(find(derived, "Conv node of b", Step::input_gradient), nullptr);
  // y[8,10] = x[8,128] w[10,128]^T: dx = dy w, dw = dy^T x.
  EXPECT_EQ(product(derived, "Gemm node of e", Step::input_gradient), "8 x 128 x 10, NN, 1 times");
  EXPECT_EQ(product(derived, "Gemm node of e", Step::weight_gradient), "10 x 128 x 8, TN, 1 times");
}

TEST(Onnx, ProductsWithWeightsTakeTheGraphsRowsOrEveryToken) {
  const OnnxFile graph = {
      .nodes = {onnx_node("MatMul", {"x", "w"}, "y"), onnx_node("MatMul", {"unknown", "v"}, "z")},
      .tensors = {onnx_tensor("w", {768, 3072}), onnx_tensor("v", {768, 50257})},
      .inputs = {onnx_value("x", {{0, "batch"}, {0, "sequence_length"}, {768, ""}})}};
  const Result<Model> model = read(graph.model(), {.batch = 4, .sequence = 128});
  ASSERT_TRUE(model) << model.error().to_string();
  const Derived derived = derive(*model, {});
  EXPECT_EQ(product(derived, "MatMul node of y"), "512 x 3072 x 768, NN, 1 times");
  EXPECT_EQ(product(derived, "MatMul node of z"), "512 x 50257 x 768, NN, 1 times");
  EXPECT_THAT(model->notes, testing::Contains(HasSubstr("batch x sequence are taken")));
}

TEST(Onnx, ProductsOfActivationsAreBatches) {
  const OnnxFile graph = {.nodes = {onnx_node("MatMul", {"q", "k"}, "s")},
                          .inputs = {onnx_value("q", {{2, ""}, {12, ""}, {128, ""}, {64, ""}}),
                                     onnx_value("k", {{2, ""}, {12, ""}, {64, ""}, {128, ""}})}};
  const Result<Model> model = read(graph.model());
  ASSERT_TRUE(model) << model.error().to_string();
  EXPECT_EQ(product(derive(*model, {}), "MatMul node of s"), "128 x 128 x 64, NN, batch 24, 1 times");
}

TEST(Onnx, EqualProductsAreCountedAndUnknownOnesSaidToBeLeftOut) {
  const OnnxFile graph = {
      .nodes = {onnx_node("MatMul", {"x", "w"}, "y"), onnx_node("MatMul", {"y", "w"}, "z"),
                onnx_node("MatMul", {"z", "mystery"}, "u")},
      .tensors = {onnx_tensor("w", {64, 64})},
      .inputs = {onnx_value("x", {{16, ""}, {64, ""}})}};
  const Result<Model> model = read(graph.model());
  ASSERT_TRUE(model) << model.error().to_string();
  EXPECT_EQ(product(derive(*model, {}), "MatMul node of y"), "16 x 64 x 64, NN, 2 times");
  EXPECT_THAT(model->notes, testing::Contains(HasSubstr("1 products are left out")));
}

TEST(Onnx, DamageIsNamed) {
  const auto message = [](const std::string& bytes) {
    const Result<Model> model = read(bytes);
    return model ? std::string("no error") : model.error().message;
  };
  EXPECT_THAT(message("\x3a"), HasSubstr("damaged near byte"));
  EXPECT_THAT(message(number_field(1, 8)), HasSubstr("no ONNX graph"));
  EXPECT_THAT(message(OnnxFile{}.model()), HasSubstr("no product or convolution of known size"));
  EXPECT_THAT(message(OnnxFile{.tensors = {onnx_tensor("w", {uint64_t{1} << 62})}}.model()),
              HasSubstr("`w` has a size outside"));
  const std::string whole = OnnxFile{
      .nodes = {onnx_node("MatMul", {"x", "w"}, "y")},
      .tensors = {onnx_tensor(
          "w", {64, 64})}}.model();
  for (size_t length = 0; length < whole.size(); ++length) (void)read(whole.substr(0, length));  // no crash
}

}  // namespace
}  // namespace fullwarp::shapes
