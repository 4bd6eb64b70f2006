// The flags a build system compiles a file with, from compile_commands.json: an array of
// {"directory", "file", "command" or "arguments"}. Only flags that change what the kernels mean are taken;
// output names, warnings and architectures are this run's own.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "input/compile.h"
#include "input/process.h"

namespace fullwarp::input {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
constexpr uint64_t kMaxBytes = uint64_t{256} << 20;
constexpr unsigned kMaxOptionFiles = 16;

// A command line as a POSIX shell splits it: quotes and backslashes, nothing else.
std::vector<std::string> split_command(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = '\0';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (quote == '\0' && blank) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
      in_word = true;
    } else if (c == quote) {
      quote = '\0';
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

class FlagFilter {
 public:
  explicit FlagFilter(fs::path directory) : directory_(std::move(directory)) {}

  void take(const std::vector<std::string>& words) {
    for (size_t i = 0; i < words.size(); ++i) take(words, &i);
  }
  std::vector<std::string> flags;

 private:
  void take(const std::vector<std::string>& words, size_t* i) {
    const std::string& word = words[*i];
    if (word == "--options-file" || word == "-optf") {
      if (*i + 1 < words.size()) take_file(words[++*i]);
      return;
    }
    if (word.starts_with("@")) return take_file(word.substr(1));
    for (const std::string_view path_flag : {"-isystem", "-iquote", "-include", "-I"}) {
      if (!word.starts_with(path_flag)) continue;
      std::string value = word.substr(path_flag.size());
      if (value.starts_with("=")) value.erase(0, 1);
      if (value.empty()) {
        if (*i + 1 >= words.size()) return;
        value = words[++*i];
      }
      flags.emplace_back(path_flag);
      flags.push_back((directory_ / value).lexically_normal().string());
      return;
    }
    for (const std::string_view value_flag : {"-D", "-U", "-std"}) {
      if (!word.starts_with(value_flag)) continue;
      flags.push_back(word);
      const bool separate = word.size() == 2 || word == "-std";
      if (separate && *i + 1 < words.size()) flags.push_back(words[++*i]);
      return;
    }
    for (const std::string_view plain :
         {"--std=", "--expt-", "-expt-", "--extended-lambda", "-extended-lambda", "--use_fast_math",
          "-use_fast_math", "-ffast-math", "--fmad", "-fmad", "--ftz", "-ftz", "--prec-", "-prec-",
          "-ffp-contract"}) {
      if (word.starts_with(plain)) {
        flags.push_back(word);
        return;
      }
    }
  }

  void take_file(const std::string& name) {
    if (++option_files_ > kMaxOptionFiles) return;
    const Result<std::string> text = read_file((directory_ / name).string(), kMaxBytes);
    if (text.ok()) take(split_command(text.value()));
  }

  fs::path directory_;
  unsigned option_files_ = 0;
};

std::string text_of(const json& entry, const char* key) {
  const auto it = entry.find(key);
  return it != entry.end() && it->is_string() ? it->get<std::string>() : std::string();
}

fs::path find_database(const fs::path& source) {
  std::error_code code;
  for (fs::path folder = source.parent_path();; folder = folder.parent_path()) {
    for (const char* name : {"compile_commands.json", "build/compile_commands.json"}) {
      if (fs::is_regular_file(folder / name, code)) return folder / name;
    }
    if (!folder.has_relative_path()) return {};
  }
}

}  // namespace

Result<std::vector<std::string>> flags_from_compile_commands(const std::string& source,
                                                             const std::string& compile_commands) {
  std::error_code code;
  const fs::path file = fs::weakly_canonical(source, code);
  fs::path database = compile_commands.empty() ? find_database(file) : fs::path(compile_commands);
  if (database.empty()) return std::vector<std::string>{};
  if (fs::is_directory(database, code)) database /= "compile_commands.json";
  const Result<std::string> text = read_file(database.string(), kMaxBytes);
  if (!text) return text.error();
  const json entries = json::parse(text.value(), nullptr, false);
  if (!entries.is_array()) {
    if (compile_commands.empty()) return std::vector<std::string>{};  // found by chance, not asked for
    return Error{"this is not a compile_commands.json: an array of commands is expected", database.string()};
  }
  for (const json& entry : entries) {
    if (!entry.is_object()) continue;
    const fs::path directory = database.parent_path() / text_of(entry, "directory");
    if (fs::path(text_of(entry, "file")).filename() != file.filename()) continue;
    if (fs::weakly_canonical(directory / text_of(entry, "file"), code) != file) continue;
    FlagFilter filter(directory);
    if (const auto arguments = entry.find("arguments"); arguments != entry.end() && arguments->is_array()) {
      std::vector<std::string> words;
      for (const json& word : *arguments) {
        if (word.is_string()) words.push_back(word.get<std::string>());
      }
      filter.take(words);
    } else {
      filter.take(split_command(text_of(entry, "command")));
    }
    return std::move(filter.flags);
  }
  return std::vector<std::string>{};
}

}  // namespace fullwarp::input
