// Reading the environment; see settings.h.
#include "settings.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fullwarp::gemm {

Settings Settings::from_environment() {
  Settings settings;
  if (const char* text = std::getenv("FULLWARP_GEMM_WORKSPACE_MB"); text != nullptr) {
    char* end = nullptr;
    const long long megabytes = std::strtoll(text, &end, 10);
    if (end != text && *end == '\0' && megabytes >= 0 && megabytes <= (1 << 20)) {
      settings.workspace_bytes = static_cast<size_t>(megabytes) << 20;
    }
  }
  if (const char* text = std::getenv("FULLWARP_GEMM_LOG"); text != nullptr && std::strcmp(text, "0") != 0) {
    settings.log = *text != '\0';
    if (std::strcmp(text, "1") != 0) settings.log_file = text;
  }
  if (const char* text = std::getenv("FULLWARP_GEMM_MODE"); text != nullptr) {
    if (std::strcmp(text, "plain") == 0) settings.mode = Mode::kPlain;
    if (std::strcmp(text, "staged") == 0) settings.mode = Mode::kStaged;
    if (std::strcmp(text, "fused") == 0) settings.mode = Mode::kFused;
    if (std::strcmp(text, "ahead") == 0) settings.mode = Mode::kAhead;
  }
  if (const char* text = std::getenv("FULLWARP_GEMM_TILE"); text != nullptr) {
    for (const int columns : {64, 128, 192, 256}) {
      if (std::to_string(columns) == text) settings.tile_columns = columns;
    }
  }
  return settings;
}

void Settings::write_log(const std::string& line) const {
  std::FILE* const file = log_file.empty() ? stderr : std::fopen(log_file.c_str(), "a");
  if (file == nullptr) return;
  std::fprintf(file, "fullwarp-gemm: %s\n", line.c_str());
  if (file != stderr) std::fclose(file);
}

}  // namespace fullwarp::gemm
