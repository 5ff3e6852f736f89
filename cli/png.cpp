#include "cli/png.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "limb/base/error.hpp"

extern char** environ;

namespace limb::cli {
namespace {

constexpr const char* kProgram = "rsvg-convert";

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

/// A temporary file without a name: unlike a pipe it never blocks.
File open_temporary_file(const std::string& call) {
  File file(std::tmpfile());
  if (file == nullptr) {
    throw Error(fmt::format("{}: cannot create a temporary file: {}", call, std::strerror(errno)));
  }
  return file;
}

std::string content(const File& file) {
  std::rewind(file.get());
  std::string text;
  std::array<char, 1 << 16> part;
  while (const std::size_t n = std::fread(part.data(), 1, part.size(), file.get())) {
    text.append(part.data(), n);
  }
  return text;
}

}  // namespace

std::string png_of_svg(const std::string& call, const std::string& svg, double scale) {
  const File in = open_temporary_file(call), out = open_temporary_file(call),
             errors = open_temporary_file(call);
  if (std::fwrite(svg.data(), 1, svg.size(), in.get()) != svg.size() ||
      std::fflush(in.get()) != 0) {
    throw Error(fmt::format("{}: cannot write a temporary file: {}", call, std::strerror(errno)));
  }
  std::rewind(in.get());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(in.get()), 0);
  posix_spawn_file_actions_adddup2(&actions, fileno(out.get()), 1);
  posix_spawn_file_actions_adddup2(&actions, fileno(errors.get()), 2);
  std::string program = kProgram, format = "--format=png", zoom = fmt::format("--zoom={}", scale);
  std::array<char*, 4> arguments = {program.data(), format.data(), zoom.data(), nullptr};
  pid_t child = 0;
  const int failure = posix_spawnp(&child, kProgram, &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    throw Error(fmt::format(
        "{}: PNG needs the program {} (Debian: librsvg2-bin): {}; .svg and .html do not", call,
        kProgram, std::strerror(failure)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::string png = content(out);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || !png.starts_with("\x89PNG")) {
    std::string reason = content(errors);
    reason = reason.substr(0, reason.find('\n'));
    throw Error(fmt::format("{}: {} failed: {}", call, kProgram, reason));
  }
  return png;
}

}  // namespace limb::cli
