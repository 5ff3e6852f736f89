#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Checks before large allocations.
namespace limb {

/// Bytes that the process can still allocate, by the memory of the machine, of its control group
/// and by the limit of its address space (ulimit -v). The largest number if none is known.
std::uint64_t available_memory();

/// "1.5 GB"
std::string bytes_text(double bytes);

/// @throws Error "call: argument is found, expected a size that fits into memory (about 640 GB
/// needed, 12 GB available)".
void check_memory(std::string_view call, std::string_view argument, std::string_view found,
                  double bytes);

}  // namespace limb
