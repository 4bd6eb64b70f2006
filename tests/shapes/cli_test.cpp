// The command line: files in, exit codes, formats and pictures out.
#include "../cli/fixture.h"
#include "files.h"

namespace fullwarp::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class Shapes : public CliTest {
 protected:
  std::string gpt2() const {
    return write("config.json",
                 "{\"architectures\": [\"GPT2LMHeadModel\"], \"model_type\": \"gpt2\", \"n_embd\": 768,\n"
                 "\"n_head\": 12, \"n_layer\": 12, \"n_positions\": 1024,\n\"vocab_size\": 50257}\n");
  }
};

TEST_F(Shapes, AWarningMakesTheExitCodeOne) {
  const Outcome outcome = run_with({"shapes", gpt2(), "--batch", "8", "--sequence", "1024"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out,
              HasSubstr("config.json:3: warning: vocab_size 50257 is no multiple of 8 elements"));
  EXPECT_THAT(outcome.out, HasSubstr("model.resize_token_embeddings(50"));
  EXPECT_EQ(run_with({"shapes", gpt2(), "--fail-on", "error"}).code, 0);
  EXPECT_EQ(run_with({"shapes", gpt2(), "--fail-on", "never"}).code, 0);
}

TEST_F(Shapes, GoodSizesAreZero) {
  EXPECT_EQ(run_with({"shapes", write("l.csv", "4096,4096,4096,bf16,NT\n")}).code, 0);
}

TEST_F(Shapes, TheSequenceIsTheModelsAtMostUnlessAskedFor) {
  const std::string file =
      write("config.json", R"({"model_type": "bert", "hidden_size": 768, "num_attention_heads": 12,
    "num_hidden_layers": 2, "intermediate_size": 3072, "max_position_embeddings": 512, "vocab_size": 30528})");
  EXPECT_THAT(run_with({"shapes", file}).out, HasSubstr("batch 8 x sequence 512, bf16, forward"));
  const std::string longer = run_with({"shapes", file, "--sequence", "513"}).out;
  EXPECT_THAT(longer, HasSubstr("batch 8 x sequence 513"));
  EXPECT_THAT(longer, HasSubstr("positions for 512 tokens, fewer than --sequence 513"));
}

TEST_F(Shapes, ACacheAddsKeysToAttention) {
  const Outcome outcome = run_with({"shapes", gpt2(), "--sequence", "1", "--cached", "1023"});
  EXPECT_THAT(outcome.out, HasSubstr("sequence 1, bf16, forward, behind 1023 cached tokens"));
  EXPECT_THAT(outcome.out, HasSubstr("1 queries, 1024 keys"));
  EXPECT_EQ(run_with({"shapes", gpt2(), "--cached", "8", "--backward"}).code, 2);
}

TEST_F(Shapes, AxesOfAGraphAreSetByName) {
  namespace bytes = shapes::test;
  const std::string file =
      write("m.onnx", bytes::OnnxFile{.nodes = {bytes::onnx_node("MatMul", {"x", "x"}, "y")},
                                      .inputs = {bytes::onnx_value("x", {{0, "height"}, {0, "width"}})}}
                          .model());
  const Outcome open = run_with({"shapes", file, "--batch", "64"});
  EXPECT_EQ(open.code, 2);
  EXPECT_THAT(open.err, HasSubstr("axis 1 of the graph's input `x` is `width`: set it with --axis width=N"));
  const Outcome set = run_with({"shapes", file, "--axis", "width=64", "--axis", "x:0=64"});
  EXPECT_EQ(set.code, 0) << set.err;
  EXPECT_THAT(set.out, HasSubstr("64 x 64 x 64, NN"));
  EXPECT_THAT(set.out, HasSubstr("batch 8 x sequence 1024"));
  EXPECT_THAT(
      run_with({"shapes", file, "--axis", "width=64", "--axis", "x:0=64", "--tensor-parallel", "2"}).out,
      HasSubstr("--tensor-parallel does not split a graph"));
  EXPECT_THAT(run_with({"shapes", write("ran.csv", "64,64,64,bf16\n"), "--tensor-parallel", "2"}).out,
              HasSubstr("holds what one rank ran already"));
  EXPECT_THAT(run_with({"shapes", gpt2(), "--axis", "width=64"}).out,
              HasSubstr("--axis sets axes of ONNX graphs"));
}

TEST_F(Shapes, AFileThatCannotBeUsedIsTwoAndTheOthersAreStillReported) {
  const Outcome outcome = run_with({"shapes", path("missing.gguf"), gpt2()});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("missing.gguf: error: cannot open"));
  EXPECT_THAT(outcome.out, HasSubstr("vocab_size 50257"));
}

TEST_F(Shapes, APointerOfGitLfsIsNoModel) {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n";
  for (const char* name : {"m.safetensors", "m.onnx", "m.gguf", "config.json"}) {
    const Outcome outcome = run_with({"shapes", write(name, pointer)});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("git lfs pull")) << name;
  }
}

TEST_F(Shapes, MistakesOnTheCommandLineAreTwo) {
  const std::string file = gpt2();
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"shapes"},
        {"shapes", file, "--batch", "0"},
        {"shapes", file, "--batch", "-1"},
        {"shapes", file, "--dtype", "fp7"},
        {"shapes", file, "--gpu", "h20O"},
        {"shapes", file, "--axis", "height"},
        {"shapes", file, "--axis", "height=0"},
        {"shapes", file, "--axis", "=5"},
        {"shapes", file, "--format", "pdf"},
        {"shapes", file, "--batch", "1048576", "--sequence", "4194304"},
        {"shapes", file, "--picture", path("p.svg"), "--number", "nothing"}}) {
    const Outcome outcome = run_with(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments.back();
    EXPECT_NE(outcome.err, "") << arguments.back();
  }
}

TEST_F(Shapes, EveryFormatAndThePicture) {
  const std::string file = gpt2();
  EXPECT_TRUE(run_with({"shapes", file, "--format", "json"}).out.starts_with("{\n \"schema\": 1"));
  EXPECT_THAT(run_with({"shapes", file, "--format", "sarif"}).out,
              HasSubstr("\"ruleId\": \"shape-alignment\""));
  EXPECT_TRUE(run_with({"shapes", file, "--format", "csv"}).out.starts_with("file,operation,step,"));
  EXPECT_THAT(run_with({"shapes", file, "--format", "html"}).out, HasSubstr("<svg"));
  const Outcome outcome =
      run_with({"shapes", file, "--output", path("report.txt"), "--picture", path("cliff.svg")});
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(file_text(path("report.txt")), HasSubstr("vocab_size 50257"));
  EXPECT_THAT(file_text(path("cliff.svg")), HasSubstr("now 50257"));
}

TEST_F(Shapes, HelpHasExamplesAndExitCodes) {
  const Outcome outcome = run_with({"shapes", "--help"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("Examples:\n  fullwarp shapes config.json --batch 8 --sequence 1024"));
  EXPECT_THAT(outcome.out, HasSubstr("Exit codes: 0"));
}

}  // namespace
}  // namespace fullwarp::cli
