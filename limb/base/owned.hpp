#pragma once

#include <utility>

namespace limb {

/// One T or none, copied with its owner. T may be incomplete wherever it is only passed on: who
/// makes it knows how to copy and delete it.
template <typename T>
class Owned {
 public:
  Owned() = default;
  template <typename... Arguments>
  static Owned make(Arguments&&... arguments) {
    Owned owned;
    owned.value_ = new T(std::forward<Arguments>(arguments)...);
    owned.copy_ = [](const T& value) { return new T(value); };
    owned.remove_ = [](T* value) { delete value; };
    return owned;
  }
  Owned(const Owned& other)
      : value_(other.value_ ? other.copy_(*other.value_) : nullptr),
        copy_(other.copy_),
        remove_(other.remove_) {}
  Owned(Owned&& other) noexcept { swap(other); }
  Owned& operator=(Owned other) noexcept {
    swap(other);
    return *this;
  }
  ~Owned() {
    if (value_) remove_(value_);
  }

  explicit operator bool() const { return value_ != nullptr; }
  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }

 private:
  void swap(Owned& other) noexcept {
    std::swap(value_, other.value_);
    std::swap(copy_, other.copy_);
    std::swap(remove_, other.remove_);
  }

  T* value_ = nullptr;
  T* (*copy_)(const T&) = nullptr;
  void (*remove_)(T*) = nullptr;
};

}  // namespace limb
