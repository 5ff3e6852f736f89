#include "cli/colour.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace limb::cli {

bool has_colour(std::FILE* stream) {
  const char* off = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return (off == nullptr || *off == '\0') && terminal != nullptr &&
         std::string_view(terminal) != "dumb" && isatty(fileno(stream)) == 1;
}

std::string coloured(const std::string& text) {
  struct Word {
    std::string_view word, colour;
  };
  constexpr std::array<Word, 3> kWords = {
      {{"error", "\033[1;31m"}, {"warning", "\033[1;33m"}, {"note", "\033[36m"}}};
  std::string result;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find('\n', start), text.size() - 1) + 1;
    std::string line = text.substr(start, end - start);
    for (const auto& [word, colour] : kWords) {
      const std::string found = ": " + std::string(word) + ": ";
      const std::size_t at = line.find(found);
      if (at == line.npos) continue;
      line.replace(at + 2, word.size(), std::string(colour) + std::string(word) + "\033[0m");
      break;
    }
    result += line;
    start = end;
  }
  return result;
}

}  // namespace limb::cli
