#include "input/source_repairs.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "input/launch_brackets.h"

namespace fullwarp::input {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t kMaxSourceBytes = uint64_t{64} << 20;
constexpr std::string_view kError = ": error: ";

std::string absolute_path(const std::string& path) {
  std::error_code code;
  const fs::path absolute = fs::absolute(path, code);
  return code ? path : absolute.lexically_normal().string();
}

// `dir/a.cu` of `dir/a.cu:12:3`.
std::string_view file_of(std::string_view place) {
  for (int numbers = 0; numbers < 2; ++numbers) {
    const size_t colon = place.rfind(':');
    if (colon == std::string_view::npos) return {};
    place = place.substr(0, colon);
  }
  return place;
}

}  // namespace

bool SourceRepairs::repair(std::string_view messages) {
  const size_t before = changed_.size();
  while (!messages.empty()) {
    const std::string_view line = messages.substr(0, messages.find('\n'));
    messages.remove_prefix(std::min(line.size() + 1, messages.size()));
    const size_t error = line.find(kError);
    if (error == std::string_view::npos) continue;
    const std::string_view file = file_of(line.substr(0, error));
    if (file.empty()) continue;
    const std::string path = absolute_path(std::string(file));
    if (!looked_at_.insert(path).second) continue;
    const Result<std::string> source = read_file(path, kMaxSourceBytes);
    if (!source) continue;
    const std::string mended = with_joined_launch_brackets(*source);
    if (mended == *source) continue;
    const std::string replacement = folder_.file("changed" + std::to_string(changed_.size()) + ".cu");
    if (write_file(replacement, mended).ok()) changed_.push_back({path, replacement});
  }
  return changed_.size() > before && write_overlay();
}

bool SourceRepairs::write_overlay() const {
  nlohmann::json roots = nlohmann::json::array();
  for (const Changed& file : changed_) {
    roots.push_back({{"type", "file"}, {"name", file.original}, {"external-contents", file.replacement}});
  }
  const nlohmann::json overlay = {{"version", 0}, {"use-external-names", false}, {"roots", roots}};
  const std::string text = overlay.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  return write_file(folder_.file("overlay.yaml"), text).ok();
}

std::vector<std::string> SourceRepairs::flags() const {
  if (changed_.empty()) return {};
  return {"-ivfsoverlay", folder_.file("overlay.yaml")};
}

}  // namespace fullwarp::input
