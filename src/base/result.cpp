#include "base/result.h"

namespace fullwarp {

std::string Error::to_string() const {
  std::string text;
  if (!file.empty()) text += file + ":";
  if (line != 0) text += std::to_string(line) + ":";
  if (line != 0 && column != 0) text += std::to_string(column) + ":";
  if (!text.empty()) text += " ";
  text += "error: " + message;
  if (!hint.empty()) text += "\n  hint: " + hint;
  return text;
}

}  // namespace fullwarp
