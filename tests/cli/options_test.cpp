// What can be written on the command line, and that the man page and the completions say the same.
#include "cli/options.h"

#include <regex>
#include <set>

#include "fixture.h"

namespace fullwarp::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CheckArguments parse_check(std::vector<std::string> arguments) {
  Arguments values;
  CLI::App app;
  define_options(app, values);
  arguments.insert(arguments.begin(), "check");
  std::vector<std::string> own = split_arguments(arguments).own;
  std::reverse(own.begin(), own.end());
  app.parse(own);
  return values.check;
}

TEST(Options, FilesAndRepeatedOptionsMayMix) {
  const CheckArguments check =
      parse_check({"a.cu", "-I", "inc", "b.cu", "-Iother", "-DN=4", "-D", "M", "--launch", "f<<<1,32>>>()",
                   "c.ptx", "--launch", "g<<<1,32>>>()"});
  EXPECT_THAT(check.check.files, ElementsAre("a.cu", "b.cu", "c.ptx"));
  EXPECT_THAT(check.includes, ElementsAre("inc", "other"));
  EXPECT_THAT(check.defines, ElementsAre("N=4", "M"));
  EXPECT_THAT(check.check.launches, ElementsAre("f<<<1,32>>>()", "g<<<1,32>>>()"));
}

TEST(Options, LaunchesKeepCommasAndBrackets) {
  const CheckArguments check =
      parse_check({"a.cu", "--launch", "f<<<(1,2), (32,8)>>>({f32 1.5, i32 3}, ptr[]{a, b})"});
  EXPECT_THAT(check.check.launches, ElementsAre("f<<<(1,2), (32,8)>>>({f32 1.5, i32 3}, ptr[]{a, b})"));
}

TEST(Options, StandardIsSpelledAsForACompiler) {
  EXPECT_EQ(parse_check({"a.cu", "-std=c++17"}).standard, "c++17");
  EXPECT_EQ(parse_check({"a.cu", "--std", "c++20"}).standard, "c++20");
}

TEST(Options, WhatFollowsTwoDashesIsTheCompilers) {
  const SplitArguments split =
      split_arguments({"check", "a.cu", "--", "--use_fast_math", "-std=c++17", "--"});
  EXPECT_THAT(split.own, ElementsAre("check", "a.cu"));
  EXPECT_THAT(split.compiler, ElementsAre("--use_fast_math", "-std=c++17", "--"));
}

TEST(Options, HelpHasExamplesAndExitCodes) {
  const Outcome outcome = run_with({"--help"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("Examples:\n  fullwarp check transpose.cu"));
  EXPECT_THAT(outcome.out, HasSubstr("Exit codes: 0"));
}

TEST(Options, VersionIsOneLine) {
  const Outcome outcome = run_with({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(std::regex_match(outcome.out, std::regex("fullwarp [0-9]+\\.[0-9]+\\.[0-9]+\n")))
      << outcome.out;
}

TEST(Options, MistakesExitWithTwo) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"chekc"},
                                                    {"check"},
                                                    {"check", "a.cu", "--format", "pdf"},
                                                    {"check", "a.cu", "--blocks", "-1"},
                                                    {"check", "a.cu", "--nonsense"}}) {
    const Outcome outcome = run_with(arguments);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err, "");
    EXPECT_EQ(outcome.out, "");
  }
}

// Every option by name, "--format", as the definition has them.
std::set<std::string> defined_options() {
  Arguments values;
  CLI::App app;
  define_options(app, values);
  std::set<std::string> names;
  const auto add = [&](const CLI::App& from) {
    for (const CLI::Option* option : from.get_options()) {
      for (const std::string& name : option->get_snames()) names.insert("-" + name);
      for (const std::string& name : option->get_lnames()) names.insert("--" + name);
    }
  };
  add(app);
  for (const CLI::App* command : app.get_subcommands({})) add(*command);
  return names;
}

TEST(ManPage, HasEveryOptionAndNoOther) {
  std::string page = file_text(FULLWARP_SOURCE_DIR "/docs/man/fullwarp.1");
  page = page.substr(page.find(".SH OPTIONS"));
  page = page.substr(0, page.find(".SH EXIT STATUS"));
  std::set<std::string> described;
  // An entry is `.TP` and a line with the option in bold: `.B \-h, \-\-help`, `.BI \-\-launch " EXPR"`.
  const std::regex entry(R"(\.TP\n\.BI? ([^\n]*))"), option(R"((\\-)+[A-Za-z][A-Za-z\\-]*)");
  for (std::sregex_iterator at(page.begin(), page.end(), entry), end; at != end; ++at) {
    const std::string line = (*at)[1];
    for (std::sregex_iterator name(line.begin(), line.end(), option); name != end; ++name)
      described.insert(std::regex_replace(name->str(), std::regex(R"(\\)"), ""));
  }
  EXPECT_EQ(described, defined_options());
}

TEST(ManPage, HasTheChoices) {
  const std::string page = file_text(FULLWARP_SOURCE_DIR "/docs/man/fullwarp.1");
  for (const char* name : {"format", "fail-on", "color"}) {
    std::string words;
    for (const std::string& word : choices(std::string("--") + name))
      words += (words.empty() ? "" : "|") + word;
    EXPECT_THAT(page, HasSubstr("\" " + words + "\"")) << name;
  }
}

TEST(Completion, EveryShellHasEveryOption) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome outcome = run_with({"completion", shell});
    EXPECT_EQ(outcome.code, 0);
    for (std::string name : defined_options()) {
      if (name == "--version") continue;  // stands before any command; fish and zsh complete commands there
      if (std::string(shell) == "fish")
        name = (name[1] == '-' ? "-l " : "-s ") + name.substr(name.find_first_not_of('-'));
      EXPECT_THAT(outcome.out, HasSubstr(name)) << shell;
    }
    for (const char* word : {"sarif", "h200", "bank-conflict", "explain"})
      EXPECT_THAT(outcome.out, HasSubstr(word)) << shell;
  }
}

TEST_F(CliTest, BashCompletesWords) {
  const std::string script = write("fullwarp.bash", run_with({"completion", "bash"}).out);
  const auto complete = [&](const std::string& words, int index) {
    const std::string result = path("result");
    const std::string command = "bash -c 'source \"" + script + "\"; COMP_WORDS=(" + words +
                                "); COMP_CWORD=" + std::to_string(index) +
                                "; _fullwarp; echo \"${COMPREPLY[*]}\"' > " + result;
    EXPECT_EQ(std::system(command.c_str()), 0);
    return file_text(result);
  };
  EXPECT_EQ(complete("fullwarp ex", 1), "explain\n");
  EXPECT_EQ(complete("fullwarp check --format sa", 3), "sarif\n");
  EXPECT_EQ(complete("fullwarp check --launch-", 2), "--launch-file\n");
  EXPECT_EQ(complete("fullwarp explain bank-c", 2), "bank-conflict\n");
}

TEST(Gpus, ListsAndExplainsThem) {
  const Outcome list = run_with({"gpus"});
  EXPECT_EQ(list.code, 0);
  for (const char* gpu : {"h200", "h100", "a100", "l4", "rtx4090", "t4", "b200", "rtx5090"})
    EXPECT_THAT(list.out, HasSubstr(gpu));
  const Outcome one = run_with({"gpus", "h200"});
  EXPECT_EQ(one.code, 0);
  EXPECT_THAT(one.out, HasSubstr("228 KB"));
  EXPECT_EQ(run_with({"gpus", "voodoo2"}).code, 2);
}

TEST(Explain, ShowsThePageOrTheList) {
  const Outcome list = run_with({"explain"});
  EXPECT_EQ(list.code, 0);
  EXPECT_THAT(list.out, HasSubstr("\nuncoalesced-global "));
  const Outcome page = run_with({"explain", "bank-conflict"});
  EXPECT_EQ(page.code, 0);
  EXPECT_THAT(page.out, HasSubstr("32"));
  EXPECT_THAT(list.out, HasSubstr("\nshape-alignment "));
  EXPECT_THAT(run_with({"explain", "shape-alignment"}).out, HasSubstr("16 bytes"));
  EXPECT_EQ(run_with({"explain", "no-such-rule"}).code, 2);
}

}  // namespace
}  // namespace fullwarp::cli
