#pragma once

namespace limb::testing {

/// How much longer a test may take than in an optimised build: sanitizers run unoptimised code.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr double kPatience = 20;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr double kPatience = 20;
#else
inline constexpr double kPatience = 1;
#endif
#else
inline constexpr double kPatience = 1;
#endif

}  // namespace limb::testing
