#pragma once

#include <cmath>
#include <limits>

namespace limb {

/// The largest of the values added. It is NaN as soon as one of them is, and before the first:
/// neither a NaN nor a loop that ran over nothing meets a bound. `worst = std::max(worst, error)`
/// drops NaN.
class Worst {
 public:
  void add(double value) {
    const bool replace = value > value_ || std::isnan(value);
    if (count_++ == 0 || (replace && !std::isnan(value_))) value_ = value;
  }
  template <typename... Values>
  requires(sizeof...(Values) > 1) void add(Values... values) {
    (add(static_cast<double>(values)), ...);
  }

  double value() const { return value_; }
  int count() const { return count_; }

 private:
  double value_ = std::numeric_limits<double>::quiet_NaN();
  int count_ = 0;
};

/// The larger one, NaN if one of them is; for fields of a struct.
inline double worse(double a, double b) {
  Worst worst;
  worst.add(a, b);
  return worst.value();
}

/// The smallest of the values added, with the same rules.
class Least {
 public:
  template <typename... Values>
  void add(Values... values) {
    (negative_.add(-static_cast<double>(values)), ...);
  }

  double value() const { return -negative_.value(); }
  int count() const { return negative_.count(); }

 private:
  Worst negative_;
};

}  // namespace limb
