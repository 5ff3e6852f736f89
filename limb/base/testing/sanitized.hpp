#pragma once

/// 1 in builds with a sanitizer that replaces functions of the C library, otherwise 0.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMB_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define LIMB_SANITIZED 1
#else
#define LIMB_SANITIZED 0
#endif
#else
#define LIMB_SANITIZED 0
#endif

namespace limb::testing {

/// Sanitizer builds are slow: tests then use fewer states and robots, which run the same lines.
inline constexpr bool kSanitized = LIMB_SANITIZED;

}  // namespace limb::testing
