#include "limb/estimate/filter/chi_square.hpp"

#include <cmath>
#include <limits>

#include "limb/base/check.hpp"

namespace limb {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr int kMaxTerms = 100000;

/// exp(-x) x^a / Gamma(a)
double prefactor(double a, double x) {
  return std::exp(a * std::log(x) - x - std::lgamma(a));
}

/// P(a, x) = prefactor sum of x^n / (a (a+1) ... (a+n))
double by_series(double a, double x) {
  double term = 1 / a, sum = term;
  for (int n = 1; n < kMaxTerms && term > kEps * sum; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return sum * prefactor(a, x);
}

/// Q(a, x) = prefactor / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), evaluated by Lentz's method.
double by_fraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, h = d;
  for (int n = 1; n < kMaxTerms; ++n) {
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
  return h * prefactor(a, x);
}

}  // namespace

double chi_square_probability(double x, double dof) {
  check_positive("chi_square_probability", "dof", dof);
  if (!(x > 0)) return 0;
  if (std::isinf(x)) return 1;
  const double a = dof / 2, y = x / 2;
  return y < a + 1 ? by_series(a, y) : 1 - by_fraction(a, y);
}

double chi_square_quantile(double probability, double dof) {
  constexpr const char* kCall = "chi_square_quantile";
  check_positive(kCall, "dof", dof);
  if (!(probability > 0 && probability < 1)) {
    fail(kCall, "probability", to_text(probability), "between 0 and 1");
  }
  double low = 0, high = dof + 10;
  while (chi_square_probability(high, dof) < probability) high *= 2;
  // Bisection to full precision.
  for (int i = 0; i < 200 && high - low > 2 * kEps * high; ++i) {
    const double middle = (low + high) / 2;
    (chi_square_probability(middle, dof) < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

ChiSquareBand chi_square_band(double dof, double count, double probability) {
  const double rest = (1 - probability) / 2;
  return {chi_square_quantile(rest, dof * count) / count,
          chi_square_quantile(1 - rest, dof * count) / count};
}

}  // namespace limb
