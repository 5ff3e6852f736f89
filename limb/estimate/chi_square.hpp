#pragma once

namespace limb {

/// Probability that the sum of squares of `freedom` normal numbers is at most x: the regularised
/// incomplete gamma function, by series or continued fraction. [Abramowitz 1964, Sec. 6.5]
double chi_square_probability(double x, double freedom);
/// The x with that probability. @throws Error unless 0 < probability < 1 and freedom > 0.
double chi_square_quantile(double probability, double freedom);

/// Where an average of `count` values of chi-square lies with this probability, half of the rest on
/// each side: the band for NEES and NIS. [Bar-Shalom 2001, Sec. 5.4]
struct Band {
  double low = 0, high = 0;
};
Band average_band(double freedom, double count, double probability = 0.95);

}  // namespace limb
