#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace limb {

/// Larger than any robot description; what is above it is a mistake, and is not loaded.
inline constexpr std::size_t kMaxTextFile = 64u << 20;

/// The whole file. @throws Error that names call, file and cause: not there, a folder, not
/// readable, larger than the limit.
std::string read_text_file(std::string_view call, const std::filesystem::path& path,
                           std::size_t max_bytes = kMaxTextFile);

/// Writes by way of a temporary file beside it, so that the file is the old one or the new one and
/// never half of either. @throws Error.
void write_text_file(std::string_view call, const std::filesystem::path& path,
                     std::string_view text);

}  // namespace limb
