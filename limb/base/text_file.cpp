#include "limb/base/text_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <system_error>

#include "limb/base/error.hpp"

namespace limb {

namespace fs = std::filesystem;

std::string read_text_file(std::string_view call, const fs::path& path, std::size_t max_bytes) {
  const auto refuse = [&](std::string_view why) {
    throw Error(fmt::format("{}: {}: {}", call, path.string(), why));
  };
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (!fs::exists(status)) refuse("no such file");
  if (fs::is_directory(status)) refuse("is a folder, expected a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) refuse("cannot be opened for reading");
  // Read in pieces: the size of a pipe or device is not known beforehand.
  std::string text;
  std::string piece(1u << 16, '\0');
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece, 0, static_cast<std::size_t>(in.gcount()));
    if (text.size() > max_bytes) {
      refuse(fmt::format("has more than {} bytes, the limit for a robot description", max_bytes));
    }
  }
  if (in.bad()) refuse("reading failed");
  return text;
}

void write_text_file(std::string_view call, const fs::path& path, std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    throw Error(fmt::format("{}: {}: {}", call, path.string(), why));
  };
  const fs::path partial = path.string() + fmt::format(".{}.part", ::getpid());
  {
    std::ofstream out(partial, std::ios::binary);
    if (!out) refuse("cannot be opened for writing");
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    if (!out) {
      std::error_code ignored;
      fs::remove(partial, ignored);
      refuse("writing failed");
    }
  }
  std::error_code code;
  fs::rename(partial, path, code);
  if (code) {
    std::error_code ignored;
    fs::remove(partial, ignored);
    refuse(fmt::format("cannot be replaced: {}", code.message()));
  }
}

}  // namespace limb
