#include "limb/base/stand_in_file.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace limb {

std::string_view stand_in_file(std::string_view content) {
  const std::size_t first = content.find_first_not_of(" \t\r\n");
  if (first == content.npos) return "is empty";
  if (content.starts_with("version https://git-lfs")) {
    return "is a Git LFS pointer instead of the file (run: git lfs pull)";
  }
  std::string start(content.substr(first, 15));
  std::transform(start.begin(), start.end(), start.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (start.starts_with("<!doctype html") || start.starts_with("<html")) {
    return "is a web page instead of the file (download the raw file)";
  }
  return "";
}

}  // namespace limb
