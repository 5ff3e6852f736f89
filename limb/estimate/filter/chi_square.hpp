#pragma once

namespace limb {

/// Cumulative distribution function of chi-square with `dof` degrees of freedom: the regularized
/// incomplete gamma function, by series or continued fraction. [Abramowitz 1964, Sec. 6.5]
double chi_square_probability(double x, double dof);
/// Its inverse. @throws Error unless 0 < probability < 1 and dof > 0.
double chi_square_quantile(double probability, double dof);

/// Two-sided confidence interval of the average of `count` chi-square values: the band for NEES and
/// NIS. [Bar-Shalom 2001, Sec. 5.4]
struct ChiSquareBand {
  double low = 0, high = 0;
};
ChiSquareBand chi_square_band(double dof, double count, double probability = 0.95);

}  // namespace limb
