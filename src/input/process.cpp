#include "input/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

extern char** environ;

namespace fullwarp::input {
namespace {

namespace fs = std::filesystem;
constexpr size_t kMaxOutput = size_t{16} << 20;

struct Pipe {
  std::array<int, 2> ends = {-1, -1};
  bool open() { return ::pipe2(ends.data(), O_CLOEXEC) == 0; }
  void close(unsigned end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
  ~Pipe() {
    close(0);
    close(1);
  }
};

// Reads both pipes until both are closed at the other side.
void drain(Pipe& out, Pipe& err, ProcessResult* result) {
  std::array<char, 65536> block;
  const std::array<std::pair<Pipe*, std::string*>, 2> streams = {
      {{&out, &result->out}, {&err, &result->err}}};
  while (out.ends[0] >= 0 || err.ends[0] >= 0) {
    std::array<pollfd, 2> waits = {{{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}}};
    if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return;
    for (size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].fd < 0 || (waits[i].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
      const ssize_t got = ::read(waits[i].fd, block.data(), block.size());
      if (got > 0) {
        std::string& text = *streams[i].second;
        text.append(block.data(), std::min(static_cast<size_t>(got), kMaxOutput - text.size()));
      } else if (got == 0 || errno != EINTR) {
        streams[i].first->close(0);
      }
    }
  }
}

}  // namespace

Result<ProcessResult> run_process(const std::vector<std::string>& argv) {
  const auto error = [&](int code) { return Error{"cannot run " + argv[0] + ": " + std::strerror(code)}; };
  Pipe out, err;
  if (!out.open() || !err.open()) return error(errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err.ends[1], 2);
  std::vector<char*> arguments;
  arguments.reserve(argv.size() + 1);
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int code = posix_spawn(&child, argv[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) return error(code);
  out.close(1);
  err.close(1);
  ProcessResult result;
  drain(out, err, &result);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return error(errno);
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::string find_program(std::string_view name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
    std::error_code code;
    if (colon > 0 && fs::is_regular_file(candidate, code) && ::access(candidate.c_str(), X_OK) == 0) {
      return candidate.string();
    }
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return {};
}

Result<TemporaryDirectory> TemporaryDirectory::create() {
  std::error_code code;
  std::string name = (fs::temp_directory_path(code) / "fullwarp-XXXXXX").string();
  if (code || ::mkdtemp(name.data()) == nullptr) {
    return Error{"cannot make a temporary folder: " + (code ? code.message() : std::strerror(errno)),
                 {},
                 0,
                 0,
                 "point TMPDIR to a folder that can be written"};
  }
  return TemporaryDirectory(std::move(name));
}

TemporaryDirectory& TemporaryDirectory::operator=(TemporaryDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code code;
  if (!path_.empty()) fs::remove_all(path_, code);
}

Result<std::string> read_file(const std::string& path, uint64_t max_bytes) {
  std::error_code code;
  if (!fs::exists(path, code)) return Error{"there is no such file", path};
  if (!fs::is_regular_file(path, code)) return Error{"this is not a file", path};
  const uint64_t size = fs::file_size(path, code);
  if (code) return Error{"the file cannot be read: " + code.message(), path};
  if (size > max_bytes) {
    return Error{"the file is larger than " + std::to_string(max_bytes >> 20) + " MiB", path};
  }
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rb"), close);
  if (file == nullptr) return Error{std::string("the file cannot be read: ") + std::strerror(errno), path};
  std::string text(size, '\0');
  text.resize(std::fread(text.data(), 1, size, file.get()));
  return text;
}

Status write_file(const std::string& path, std::string_view text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return Error{"the file cannot be written", path};
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !written) return Error{"the file cannot be written", path};
  return Ok{};
}

}  // namespace fullwarp::input
