#include "limb/estimate/chi_square.hpp"

#include <cmath>
#include <limits>

#include "limb/base/check.hpp"

namespace limb {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr int kMostTerms = 100000;

/// exp(-x) x^a / Gamma(a)
double front(double a, double x) {
  return std::exp(a * std::log(x) - x - std::lgamma(a));
}

/// P(a, x) = front sum of x^n / (a (a+1) ... (a+n))
double by_series(double a, double x) {
  double term = 1 / a, sum = term;
  for (int n = 1; n < kMostTerms && term > kEps * sum; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return sum * front(a, x);
}

/// Q(a, x) = front / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), evaluated by Lentz's method.
double by_fraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, h = d;
  for (int n = 1; n < kMostTerms; ++n) {
    const double an = n * (a - n);
    b += 2;
    d = an * d + b;
    if (std::abs(d) < kTiny) d = kTiny;
    c = b + an / c;
    if (std::abs(c) < kTiny) c = kTiny;
    d = 1 / d;
    const double factor = d * c;
    h *= factor;
    if (std::abs(factor - 1) < kEps) break;
  }
  return h * front(a, x);
}

}  // namespace

double chi_square_probability(double x, double freedom) {
  check_positive("chi_square_probability", "freedom", freedom);
  if (!(x > 0)) return 0;
  if (std::isinf(x)) return 1;
  const double a = freedom / 2, y = x / 2;
  return y < a + 1 ? by_series(a, y) : 1 - by_fraction(a, y);
}

double chi_square_quantile(double probability, double freedom) {
  constexpr const char* kCall = "chi_square_quantile";
  check_positive(kCall, "freedom", freedom);
  if (!(probability > 0 && probability < 1)) {
    fail(kCall, "probability", to_text(probability), "between 0 and 1");
  }
  double low = 0, high = freedom + 10;
  while (chi_square_probability(high, freedom) < probability) high *= 2;
  // Halving: as many steps as there are digits.
  for (int i = 0; i < 200 && high - low > 2 * kEps * high; ++i) {
    const double middle = (low + high) / 2;
    (chi_square_probability(middle, freedom) < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

Band average_band(double freedom, double count, double probability) {
  const double rest = (1 - probability) / 2;
  return {chi_square_quantile(rest, freedom * count) / count,
          chi_square_quantile(1 - rest, freedom * count) / count};
}

}  // namespace limb
