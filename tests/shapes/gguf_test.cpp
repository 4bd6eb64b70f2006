// GGUF: the keys give the architecture, the tensors the vocabulary and the quantization block.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "files.h"
#include "products.h"
#include "shapes/read.h"

namespace fullwarp::shapes {
namespace {

using namespace test;  // the builders of files.h
using testing::HasSubstr;

constexpr uint32_t kF16 = 1, kQ4_0 = 2, kQ4_K = 12;

std::vector<std::string> llama_keys() {
  return {
      gguf_string("general.architecture", "llama"),    gguf_strings("tokenizer.ggml.tokens", {"a", "b", "c"}),
      gguf_number("llama.embedding_length", 4096),     gguf_number("llama.block_count", 32),
      gguf_number("llama.feed_forward_length", 11008), gguf_number("llama.attention.head_count", 32),
      gguf_number("llama.attention.head_count_kv", 8), gguf_number("llama.context_length", 8192)};
}

Result<Model> read(const std::string& bytes) { return read_gguf(*bytes_of(bytes), "m.gguf"); }

TEST(Gguf, BothVersionsGiveTheArchitecture) {
  for (uint32_t version : {2u, 3u}) {
    const Result<Model> model = read(gguf(version, llama_keys(),
                                          {gguf_tensor("token_embd.weight", {4096, 32003}, kF16),
                                           gguf_tensor("blk.0.ffn_gate.weight", {4096, 11008}, kF16)}));
    ASSERT_TRUE(model) << model.error().to_string();
    EXPECT_EQ(model->max_sequence, 8192);
    const Derived derived = derive(*model, {.batch = 1, .sequence = 512});
    EXPECT_EQ(product(derived, "attention k, v"), "512 x 1024 x 4096, NT, 64 times");
    EXPECT_EQ(product(derived, "mlp gate, up"), "512 x 11008 x 4096, NT, 64 times");
    EXPECT_EQ(product(derived, "output head"),
              "512 x 32003 x 4096, NT, 1 times");  // the tensor's rows, not 3 tokens
  }
}

TEST(Gguf, TensorsTellTheLayersOfAnUnknownArchitecture) {
  const Result<Model> model =
      read(gguf(3,
                {gguf_string("general.architecture", "novel"), gguf_number("novel.embedding_length", 4096),
                 gguf_number("novel.block_count", 2), gguf_number("novel.attention.head_count", 32),
                 gguf_number("novel.feed_forward_length", 11008)},
                {gguf_tensor("token_embd.weight", {4096, 320}, kF16),
                 gguf_tensor("blk.0.attn_qkv.weight", {4096, 12288}, kF16),
                 gguf_tensor("blk.0.ffn_gate.weight", {4096, 11008}, kF16)}));
  ASSERT_TRUE(model) << model.error().to_string();
  const Derived derived = derive(*model, {.batch = 1, .sequence = 512});
  EXPECT_EQ(product(derived, "attention qkv"), "512 x 12288 x 4096, NT, 2 times");
  EXPECT_EQ(product(derived, "mlp gate, up"), "512 x 11008 x 4096, NT, 4 times");
  EXPECT_THAT(model->notes,
              testing::Contains(HasSubstr("`novel` is not known: read as layers of its kind, as the "
                                          "tensors tell them")));
}

TEST(Gguf, QuantizationBlocksMustDivideEveryRanksPart) {
  const Result<Model> model = read(gguf(3, llama_keys(),
                                        {gguf_tensor("token_embd.weight", {4096, 32000}, kQ4_K),
                                         gguf_tensor("blk.0.ffn_gate.weight", {4096, 11008}, kQ4_K)}));
  ASSERT_TRUE(model) << model.error().to_string();
  // 11008 = 43 x 256, but half of it is 21.5 x 256.
  EXPECT_TRUE(derive(*model, {.batch = 1, .sequence = 1}).problems.empty());
  const Derived two = derive(*model, {.batch = 1, .sequence = 1, .tensor_parallel = 2});
  ASSERT_EQ(two.problems.size(), 1u);
  EXPECT_THAT(two.problems[0].message,
              HasSubstr("mlp down: 5504 inputs on each of 2 ranks are no multiple of the Q4_K block of 256"));
}

TEST(Gguf, WithoutAnArchitectureTensorsSpeak) {
  const Result<Model> model = read(gguf(3, {}, {gguf_tensor("a.up_proj.weight", {64, 100}, kF16)}));
  ASSERT_TRUE(model) << model.error().to_string();
  EXPECT_EQ(product(derive(*model, {.batch = 1, .sequence = 4}), "a.up_proj.weight"),
            "4 x 100 x 64, NT, 1 times");
}

TEST(Gguf, DamageIsNamed) {
  const auto message = [](const std::string& bytes) {
    const Result<Model> model = read(bytes);
    return model ? std::string("no error") : model.error().message;
  };
  EXPECT_THAT(message("GGU"), HasSubstr("not a GGUF file"));
  EXPECT_THAT(message("GGUF" + little_endian<uint32_t>(1)), HasSubstr("GGUF version 1"));
  EXPECT_THAT(message("GGUF" + little_endian<uint32_t>(0x03000000)), HasSubstr("big-endian"));
  EXPECT_THAT(message("GGUF" + little_endian<uint32_t>(3) + little_endian<uint64_t>(UINT64_MAX) +
                      little_endian<uint64_t>(0)),
              HasSubstr("more than a model has"));
  EXPECT_THAT(message(gguf(3, {}, {})), HasSubstr("neither an architecture nor tensors"));
  EXPECT_THAT(message(gguf(3, {gguf_text(std::string(5000, 'k'))}, {})), HasSubstr("damaged near byte"));
  EXPECT_THAT(message(gguf(3,
                           {gguf_text("k") + little_endian<uint32_t>(9) + little_endian<uint32_t>(8) +
                            little_endian<uint64_t>(UINT64_MAX)},
                           {})),
              HasSubstr("damaged near byte"));
  EXPECT_THAT(message(gguf(3, {}, {gguf_tensor("w", {33, 4}, kQ4_0)})),
              HasSubstr("rows of 33 elements are no multiple of the Q4_0 block of 32"));
  EXPECT_THAT(message(gguf(3, {}, {gguf_tensor("w", {uint64_t{1} << 40, 4}, kF16)})),
              HasSubstr("`w` has a size outside"));
  const std::string whole = gguf(3, llama_keys(), {gguf_tensor("token_embd.weight", {4096, 32003}, kF16)});
  for (size_t length = 4; length + 1 < whole.size(); length += 7)
    EXPECT_NE(message(whole.substr(0, length)), "no error");
}

}  // namespace
}  // namespace fullwarp::shapes
