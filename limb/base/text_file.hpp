#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace limb {

/// Size limit, larger than any robot description; larger files are not loaded.
inline constexpr std::size_t kMaxTextFile = 64u << 20;

/// Reads the whole file. @throws Error that names call, file and cause: no such file, a folder, a
/// pipe or device (reading one may never end), not readable, larger than the limit.
std::string read_text_file(std::string_view call, const std::filesystem::path& path,
                           std::size_t max_bytes = kMaxTextFile);

/// Writes a temporary file in the same folder and renames it, so that the file is never partially
/// written and stays as it was after an error. Links are followed, permissions kept, and devices
/// and pipes written directly. @throws Error "call: cannot write file: No space left on device".
void write_text_file(std::string_view call, const std::filesystem::path& path,
                     std::string_view text);

}  // namespace limb
