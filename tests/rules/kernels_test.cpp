// Every rule on the two kernels it was made for: executed, it must fire on the one and stay silent on the
// other. Further pairs have a word for what they are about, `fires_deadlock.spin.cu`. The statements are the
// kernels' own comments; the PTX beside them was made by make_ptx.sh.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "built_profile.h"
#include "fullwarp/session.h"

namespace fullwarp::rules {
namespace {

// The text of the `// fullwarp:` comments.
std::string statements(const std::string& source) {
  constexpr std::string_view kMark = "// fullwarp: ";
  std::string text;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(kMark)) text += line.substr(kMark.size()) + "\n";
  return text;
}

std::vector<diag::Finding> findings_on(const std::string& name) {
  std::filesystem::current_path(FULLWARP_SOURCE_DIR);  // the PTX has relative paths
  Result<Program> program = Program::load(kernel_path(name + ".ptx"));
  if (!program) {
    ADD_FAILURE() << program.error().to_string();
    return {};
  }
  CheckOptions options;
  options.step_limit = 100000;  // the endless loop should not take long
  Session session(*program, options);
  const report::Report report = session.run(statements(read_source(name + ".cu")));
  for (const Error& error : report.errors) ADD_FAILURE() << error.to_string();
  std::vector<diag::Finding> findings;
  for (const report::KernelReport& kernel : report.kernels)
    findings.insert(findings.end(), kernel.findings.begin(), kernel.findings.end());
  return findings;
}

std::string text_of(const std::vector<diag::Finding>& findings) {
  std::string text;
  for (const diag::Finding& f : findings)
    text += fmt::format("{}:{}:{}: {} [{}] {} | {}\n", f.place.file, f.place.line, f.place.column, f.message,
                        f.rule, f.label, f.fix);
  return text;
}

// The parameter is a rule, or a rule and a word: "deadlock", "deadlock.spin".
class RuleKernels : public testing::TestWithParam<std::string> {
 protected:
  std::string rule() const { return GetParam().substr(0, GetParam().find('.')); }
  std::string file(const char* prefix) const {
    std::string name = prefix + GetParam();
    for (char& c : name)
      if (c == '-') c = '_';
    return name;
  }
};

TEST_P(RuleKernels, Fires) {
  const auto findings = findings_on(file("fires_"));
  const auto own = of_rule(findings, rule());
  EXPECT_FALSE(own.empty()) << text_of(findings);
  for (const diag::Finding& finding : own) {
    // A statement that a session was given as text stands in no file.
    const bool in_statement = finding.rule == "expect-mismatch";
    EXPECT_EQ(finding.place.file, in_statement ? "" : kernel_path(file("fires_") + ".cu"));
    EXPECT_GT(finding.place.line, 0u);
    EXPECT_FALSE(finding.message.empty());
    EXPECT_FALSE(finding.evidence.empty());
    EXPECT_GE(finding.share, 0);
    EXPECT_LE(finding.share, 1);
  }
}

TEST_P(RuleKernels, StaysSilent) {
  const auto findings = findings_on(file("silent_"));
  EXPECT_TRUE(of_rule(findings, rule()).empty()) << text_of(findings);
}

std::vector<std::string> pairs() {
  std::vector<std::string> names;
  for (const RuleInfo& info : rule_infos()) names.emplace_back(info.id);
  const auto folder = std::filesystem::path(FULLWARP_SOURCE_DIR) / kernel_path("");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::string name = entry.path().stem().string();  // fires_bank_conflict.half
    const size_t dot = name.find('.');
    if (entry.path().extension() != ".cu" || dot == std::string::npos) continue;
    name = name.substr(name.find('_') + 1);
    std::replace(name.begin(), name.end(), '_', '-');
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, RuleKernels, testing::ValuesIn(pairs()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name)
    if (c == '-' || c == '.') c = '_';
  return name;
});

}  // namespace
}  // namespace fullwarp::rules
