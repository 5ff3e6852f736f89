#pragma once

#include <utility>

namespace limb {

/// Owning pointer to a T or null, with deep copies. T may be incomplete except where make() is
/// called: make() stores how to copy and delete it.
template <typename T>
class CopyablePtr {
 public:
  CopyablePtr() = default;
  template <typename... Arguments>
  static CopyablePtr make(Arguments&&... arguments) {
    CopyablePtr owned;
    owned.value_ = new T(std::forward<Arguments>(arguments)...);
    owned.copy_ = [](const T& value) { return new T(value); };
    owned.remove_ = [](T* value) { delete value; };
    return owned;
  }
  CopyablePtr(const CopyablePtr& other)
      : value_(other.value_ ? other.copy_(*other.value_) : nullptr),
        copy_(other.copy_),
        remove_(other.remove_) {}
  CopyablePtr(CopyablePtr&& other) noexcept { swap(other); }
  CopyablePtr& operator=(CopyablePtr other) noexcept {
    swap(other);
    return *this;
  }
  ~CopyablePtr() {
    if (value_) remove_(value_);
  }

  explicit operator bool() const { return value_ != nullptr; }
  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }

 private:
  void swap(CopyablePtr& other) noexcept {
    std::swap(value_, other.value_);
    std::swap(copy_, other.copy_);
    std::swap(remove_, other.remove_);
  }

  T* value_ = nullptr;
  T* (*copy_)(const T&) = nullptr;
  void (*remove_)(T*) = nullptr;
};

}  // namespace limb
