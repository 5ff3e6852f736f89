#include "limb/base/text_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
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
  if (!fs::is_regular_file(status)) refuse("is a pipe or device, expected a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) refuse("cannot be opened for reading");
  // Read in pieces: a file may grow meanwhile.
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

namespace {

/// The error number of the first failure, or 0.
int write_all(const fs::path& path, std::string_view text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return errno;
  int code = 0;
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size()) code = errno;
  // A full disk may show only when the buffer is written.
  if (std::fclose(file) != 0 && code == 0) code = errno;
  return code;
}

}  // namespace

void write_text_file(std::string_view call, const fs::path& path, std::string_view text) {
  const auto refuse = [&](int code) {
    throw Error(fmt::format("{}: cannot write {}: {}", call, path.string(), std::strerror(code)));
  };
  std::error_code unused;
  const fs::file_status old = fs::status(path, unused);
  if (fs::is_directory(old)) refuse(EISDIR);
  // Devices and pipes cannot be replaced: /dev/null must stay one.
  if (fs::exists(old) && !fs::is_regular_file(old)) {
    if (const int code = write_all(path, text)) refuse(code);
    return;
  }
  // A link stays a link to the new content.
  const fs::path target = fs::exists(old) ? fs::canonical(path, unused) : path;
  if (fs::exists(old) && ::access(target.c_str(), W_OK) != 0) refuse(errno);
  const fs::path partial = target.string() + fmt::format(".{}.part", ::getpid());
  int code = write_all(partial, text);
  if (code == 0) {
    if (fs::exists(old)) fs::permissions(partial, old.permissions(), unused);
    if (std::rename(partial.c_str(), target.c_str()) != 0) code = errno;
  }
  if (code == 0) return;
  fs::remove(partial, unused);
  refuse(code);
}

}  // namespace limb
