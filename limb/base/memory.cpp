#include "limb/base/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>

#include "limb/base/error.hpp"

namespace limb {
namespace {

/// The number at the start of a file of the kernel; empty for "max" or without the file.
std::optional<std::uint64_t> number_in(const char* path) {
  std::ifstream in(path);
  std::uint64_t value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

std::uint64_t difference(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : 0;
}

}  // namespace

std::uint64_t available_memory() {
  std::uint64_t available = std::numeric_limits<std::uint64_t>::max();
  std::ifstream machine("/proc/meminfo");
  for (std::string line; std::getline(machine, line);) {
    constexpr std::string_view kKey = "MemAvailable:";
    if (!line.starts_with(kKey)) continue;
    available = std::stoull(line.substr(kKey.size())) * 1024;
    break;
  }
  const auto group = number_in("/sys/fs/cgroup/memory.max");
  const auto used = number_in("/sys/fs/cgroup/memory.current");
  if (group && used) available = std::min(available, difference(*group, *used));
  rlimit limit{};
  const auto pages = number_in("/proc/self/statm");
  if (pages && getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    available = std::min(available, difference(limit.rlim_cur, *pages * page));
  }
  return available;
}

std::string bytes_text(double bytes) {
  constexpr const char* kUnits[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  // Three digits are printed, so that 999.6 would become 1000.
  while (bytes >= 999.5 && unit + 1 < std::size(kUnits)) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}

void check_memory(std::string_view call, std::string_view argument, std::string_view found,
                  double bytes) {
  const auto available = static_cast<double>(available_memory());
  if (bytes <= available) return;
  fail(call, argument, found, "a size that fits into memory",
       fmt::format("about {} needed, {} available", bytes_text(bytes), bytes_text(available)));
}

}  // namespace limb
