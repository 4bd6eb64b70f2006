// Runs the command line in this process and keeps what it wrote.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/cli.h"

namespace fullwarp::cli {

struct Outcome {
  int code = -1;
  std::string out, err;
};

inline Outcome run_with(const std::vector<std::string>& arguments, bool colour = false) {
  std::ostringstream out, err;
  Outcome outcome;
  outcome.code = run(arguments, {out, err, colour, false});
  outcome.out = out.str();
  outcome.err = err.str();
  return outcome;
}

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A folder of its own for every test, removed afterwards.
class CliTest : public testing::Test {
 protected:
  CliTest() {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::string("fullwarp_") + info->test_suite_name() + "_" + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~CliTest() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return path(name);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

}  // namespace fullwarp::cli
