// safetensors: one file, shards by index, with and without a config beside them.
#include <gmock/gmock.h>

#include "files.h"
#include "folder.h"
#include "products.h"
#include "shapes/read.h"

namespace fullwarp::shapes {
namespace {

using test::product;
using test::safetensors;
using testing::HasSubstr;

class Safetensors : public test::FolderTest {};

TEST_F(Safetensors, EveryMatrixIsALinearLayerAndEqualLayersAreOne) {
  const std::string file = write("m.safetensors", safetensors(R"({"__metadata__": {"format": "pt"},
    "model.embed_tokens.weight": {"dtype": "BF16", "shape": [32001, 512], "data_offsets": [0, 1]},
    "model.layers.0.self_attn.o_proj.weight": {"dtype": "BF16", "shape": [512, 512], "data_offsets": [0, 1]},
    "model.layers.1.self_attn.o_proj.weight": {"dtype": "BF16", "shape": [512, 512], "data_offsets": [0, 1]},
    "model.layers.0.mlp.up_proj.weight": {"dtype": "BF16", "shape": [1376, 512], "data_offsets": [0, 1]},
    "model.layers.1.mlp.up_proj.weight": {"dtype": "BF16", "shape": [1376, 512], "data_offsets": [0, 1]},
    "model.norm.weight": {"dtype": "BF16", "shape": [512], "data_offsets": [0, 1]},
    "lm_head.weight": {"dtype": "BF16", "shape": [32001, 512], "data_offsets": [0, 1]}})"));
  const Result<Model> model = read_model(file, {});
  ASSERT_TRUE(model) << model.error().to_string();
  EXPECT_EQ(model->dtype, Dtype::bf16);
  const Derived derived = derive(*model, {.batch = 2, .sequence = 64});
  EXPECT_EQ(product(derived, "model.layers.*.self_attn.o_proj.weight"), "128 x 512 x 512, NT, 2 times");
  EXPECT_EQ(product(derived, "model.layers.*.mlp.up_proj.weight"), "128 x 1376 x 512, NT, 2 times");
  EXPECT_EQ(product(derived, "lm_head.weight"), "128 x 32001 x 512, NT, 1 times");
  EXPECT_EQ(product(derived, "model.embed_tokens.weight"), "128 rows of 512, 1 times");
  // Two ranks: up is split by outputs, o by inputs.
  const Derived two = derive(*model, {.batch = 2, .sequence = 64, .tensor_parallel = 2});
  EXPECT_EQ(product(two, "model.layers.*.mlp.up_proj.weight"), "128 x 688 x 512, NT, 2 times");
  EXPECT_EQ(product(two, "model.layers.*.self_attn.o_proj.weight"), "128 x 512 x 256, NT, 2 times");
  ASSERT_EQ(two.problems.size(), 1u);  // 32001 is odd
  EXPECT_EQ(two.problems[0].number, "32001");
}

TEST_F(Safetensors, ATiedHeadCountsThoughItIsNoTensor) {
  const std::string file = write("m.safetensors", safetensors(R"({
    "wte.weight": {"dtype": "F32", "shape": [50257, 768], "data_offsets": [0, 1]},
    "wpe.weight": {"dtype": "F32", "shape": [1024, 768], "data_offsets": [0, 1]},
    "h.0.attn.c_attn.weight": {"dtype": "F32", "shape": [768, 2304], "data_offsets": [0, 1]}})"));
  const Result<Model> model = read_model(file, {});
  ASSERT_TRUE(model) << model.error().to_string();
  const Derived derived = derive(*model, {.batch = 1, .sequence = 1024});
  EXPECT_EQ(product(derived, "output head (tied to wte.weight)"), "1024 x 50257 x 768, NT, 1 times");
  EXPECT_EQ(product(derived, "h.*.attn.c_attn.weight"), "1024 x 2304 x 768, NN, 1 times");  // [in, out]
  EXPECT_EQ(test::find(derived, "wpe.weight"), nullptr);
}

TEST_F(Safetensors, ConvolutionsHaveChannels) {
  const std::string file = write("m.safetensors", safetensors(R"({
    "layer1.0.conv1.weight": {"dtype": "F16", "shape": [255, 64, 3, 3], "data_offsets": [0, 1]},
    "fc.weight": {"dtype": "F16", "shape": [1000, 512], "data_offsets": [0, 1]}})"));
  const Result<Model> model = read_model(file, {});
  ASSERT_TRUE(model) << model.error().to_string();
  const Derived derived = derive(*model, {.batch = 32, .sequence = 1});
  EXPECT_EQ(product(derived, "layer1.*.conv1.weight"),
            "64 -> 255 channels, 3 x 3 kernel, 32 x 56 x 56, 1 times");
}

TEST_F(Safetensors, PackedWeightsAreUnpackedAndTheirGroupsChecked) {
  // 4-bit GPTQ: 8 inputs in an int32; 1000 inputs in groups of 128 do not come out even.
  const std::string file = write("m.safetensors", safetensors(R"({
    "layers.0.mlp.down_proj.qweight": {"dtype": "I32", "shape": [125, 512], "data_offsets": [0, 1]},
    "layers.0.mlp.down_proj.scales": {"dtype": "F16", "shape": [8, 512], "data_offsets": [0, 1]}})"));
  const Result<Model> model = read_model(file, {});
  ASSERT_TRUE(model) << model.error().to_string();
  EXPECT_EQ(product(derive(*model, {.batch = 1, .sequence = 16}), "layers.*.mlp.down_proj.qweight"),
            "16 x 512 x 1000, NT, 1 times");
  // 8 groups of 125; half of the inputs, 500, are four of them, a third, 334, are not a number of them.
  EXPECT_TRUE(derive(*model, {.batch = 1, .sequence = 1, .tensor_parallel = 2}).problems.empty());
  const Derived three = derive(*model, {.batch = 1, .sequence = 1, .tensor_parallel = 3});
  ASSERT_EQ(three.problems.size(), 2u);
  EXPECT_EQ(three.problems[1].rule, "shape-quantization-block");
}

constexpr const char* kConfig = R"({"model_type": "llama", "hidden_size": 512, "intermediate_size": 1376,
  "num_attention_heads": 8, "num_hidden_layers": 2, "vocab_size": 32000})";

// 32 heads of 64 and 8 for keys; the norm over one head's queries tells.
TEST_F(Safetensors, HeadsAreTakenFromTensorsThatTellThem) {
  const std::string tensors = R"(
    "model.layers.0.self_attn.q_proj.weight": {"dtype": "BF16", "shape": [2048, 1024], "data_offsets": [0, 1]},
    "model.layers.0.self_attn.k_proj.weight": {"dtype": "BF16", "shape": [512, 1024], "data_offsets": [0, 1]})";
  const std::string told = write("told.safetensors", safetensors("{" + tensors + R"(,
    "model.layers.0.self_attn.q_norm.weight": {"dtype": "BF16", "shape": [64], "data_offsets": [0, 1]}})"));
  const Result<Model> model = read_model(told, {});
  ASSERT_TRUE(model) << model.error().to_string();
  const Derived derived = derive(*model, {.batch = 4, .sequence = 256});
  EXPECT_EQ(product(derived, "model.layers.*.self_attn.scores"),
            "4 x 32 heads of 64, 256 queries, 256 keys, causal, 1 times");
  EXPECT_EQ(std::get<Attention>(test::find(derived, "model.layers.*.self_attn.scores")->work).kv_heads, 8);

  const std::string silent = write("silent.safetensors", safetensors("{" + tensors + "}"));
  const Result<Model> unknown = read_model(silent, {});
  ASSERT_TRUE(unknown) << unknown.error().to_string();
  EXPECT_TRUE(unknown->headed.empty());
  EXPECT_THAT(unknown->notes, testing::Contains(HasSubstr("give --heads N")));
  const Result<Model> given = read_model(silent, {.heads = 16});
  ASSERT_TRUE(given) << given.error().to_string();
  EXPECT_EQ(product(derive(*given, {.batch = 1, .sequence = 8}), "model.layers.*.self_attn.scores"),
            "1 x 16 heads of 128, 8 queries, 8 keys, causal, 1 times");
}

TEST_F(Safetensors, FusedProjectionsHaveAsManyKeysAsQueriesIfTheyAreThriceAsLong) {
  const std::string file = write("m.safetensors", safetensors(R"({
    "h.0.attn.c_attn.weight": {"dtype": "F32", "shape": [768, 2304], "data_offsets": [0, 1]},
    "h.1.attn.c_attn.weight": {"dtype": "F32", "shape": [768, 2304], "data_offsets": [0, 1]}})"));
  const Result<Model> model = read_model(file, {.heads = 12});
  ASSERT_TRUE(model) << model.error().to_string();
  EXPECT_EQ(product(derive(*model, {.batch = 1, .sequence = 8}), "h.*.attn.scores"),
            "1 x 12 heads of 64, 8 queries, 8 keys, causal, 2 times");
}

TEST_F(Safetensors, ConvolutionsWithOneInputChannelAreDepthwise) {
  const std::string file = write("m.safetensors", safetensors(R"({
    "features.1.conv.weight": {"dtype": "F16", "shape": [96, 1, 3, 3], "data_offsets": [0, 1]}})"));
  const Result<Model> model = read_model(file, {});
  ASSERT_TRUE(model) << model.error().to_string();
  EXPECT_EQ(product(derive(*model, {.batch = 2, .sequence = 1}), "features.*.conv.weight"),
            "96 -> 96 channels in 96 groups, 3 x 3 kernel, 2 x 56 x 56, 1 times");
}

TEST_F(Safetensors, AConfigBesideThemMakesTheWholeModel) {
  write("config.json", kConfig);
  const std::string file = write("model.safetensors", safetensors(R"({
    "model.embed_tokens.weight": {"dtype": "F16", "shape": [32001, 512], "data_offsets": [0, 1]}})"));
  for (const std::string& path : {file, folder_.string()}) {
    const Result<Model> model = read_model(path, {});
    ASSERT_TRUE(model) << model.error().to_string();
    EXPECT_EQ(model->architectures.size(), 1u);
    EXPECT_EQ(model->at("vocab_size"), 32001);  // resized behind the config's back
    EXPECT_EQ(model->dtype, Dtype::fp16);
  }
}

TEST_F(Safetensors, ShardsAreFoundByTheIndex) {
  write("a.safetensors",
        safetensors(
            R"({"l.0.up_proj.weight": {"dtype": "BF16", "shape": [256, 64], "data_offsets": [0, 1]}})"));
  write("b.safetensors",
        safetensors(
            R"({"l.1.up_proj.weight": {"dtype": "BF16", "shape": [256, 64], "data_offsets": [0, 1]}})"));
  write(
      "model.safetensors.index.json",
      R"({"metadata": {"total_size": 1}, "weight_map": {"l.0.up_proj.weight": "a.safetensors", "l.1.up_proj.weight": "b.safetensors"}})");
  const Result<Model> model = read_model(folder_.string(), {});
  ASSERT_TRUE(model) << model.error().to_string();
  EXPECT_EQ(product(derive(*model, {.batch = 1, .sequence = 8}), "l.*.up_proj.weight"),
            "8 x 256 x 64, NT, 2 times");
}

TEST_F(Safetensors, AnIndexCannotNameFilesElsewhere) {
  for (const char* name : {"../secret", "/etc/passwd", ".hidden", "a/b"}) {
    const std::string index = write("m.index.json", std::string(R"({"weight_map": {"w": ")") + name + "\"}}");
    const Result<Model> model = read_model(index, {});
    ASSERT_FALSE(model) << name;
    EXPECT_THAT(model.error().message, HasSubstr("no name of a file beside the index"));
  }
}

TEST_F(Safetensors, DamageIsNamed) {
  const auto message = [&](const std::string& bytes) {
    const Result<Model> model = read_model(write("m.safetensors", bytes), {});
    return model ? std::string("no error") : model.error().message;
  };
  EXPECT_THAT(message("abc"), HasSubstr("too short"));
  EXPECT_THAT(message(test::little_endian<uint64_t>(1000) + "{}"),
              HasSubstr("should have 1000 bytes, the file has 2"));
  EXPECT_THAT(message(test::little_endian<uint64_t>(UINT64_MAX) + "{}"), HasSubstr("the format allows"));
  EXPECT_THAT(message(safetensors("{\"a\": ")), HasSubstr("no valid JSON near its byte"));
  EXPECT_THAT(message(safetensors(R"({"w": {"dtype": "F16", "shape": [-1, 4]}})")),
              HasSubstr("`w` has a size outside"));
  EXPECT_THAT(message(safetensors(R"({"w": {"dtype": "F16", "shape": [99999999999, 4]}})")),
              HasSubstr("outside"));
  EXPECT_THAT(message(safetensors(std::string(100000, '['))), HasSubstr("nested too deeply"));
  EXPECT_THAT(message(safetensors("{}")), HasSubstr("no matrix among the 0 tensors"));
}

TEST_F(Safetensors, PicklesAreNotOpened) {
  for (const std::string& bytes : {std::string("PK\x03\x04zip"), std::string("\x80\x02pickle")}) {
    const Result<Model> model = read_model(write("model.bin", bytes), {});
    ASSERT_FALSE(model);
    EXPECT_THAT(model.error().message, HasSubstr("pickle"));
  }
}

// 400 GB in 100 shards of 40 tensors: the files have holes for data, only headers are there.
TEST_F(Safetensors, AModelOf400GigabytesIsReadByItsHeaders) {
  constexpr int kShards = 100, kTensors = 40;
  constexpr int64_t kOut = 14336, kIn = 3488;  // x 2 bytes = 100 MB a tensor
  std::string map;
  for (int shard = 0; shard < kShards; ++shard) {
    const std::string name = "model-" + std::to_string(shard) + ".safetensors";
    std::string header;
    for (int i = 0; i < kTensors; ++i) {
      const std::string tensor =
          "model.layers." + std::to_string(shard * kTensors + i) + ".mlp.up_proj.weight";
      header += (header.empty() ? "" : ",") + ("\"" + tensor + "\"") +
                R"(:{"dtype":"BF16","shape":[14336,3488],"data_offsets":[0,)" +
                std::to_string(kOut * kIn * 2) + "]}";
      map += (map.empty() ? "" : ",") + ("\"" + tensor + "\":\"" + name + "\"");
    }
    const std::string path = write(name, safetensors("{" + header + "}"));
    std::filesystem::resize_file(path, 4'000'000'000);
  }
  write("model.safetensors.index.json", "{\"weight_map\":{" + map + "}}");
  const Result<Model> model = read_model(folder_.string(), {});
  ASSERT_TRUE(model) << model.error().to_string();
  EXPECT_EQ(product(derive(*model, {.batch = 1, .sequence = 8}), "model.layers.*.mlp.up_proj.weight"),
            "8 x 14336 x 3488, NT, 4000 times");
}

}  // namespace
}  // namespace fullwarp::shapes
