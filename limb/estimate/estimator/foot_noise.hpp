#pragma once

#include <array>

#include "limb/estimate/filter/filter_state.hpp"

namespace limb {

/// Noise of the leg kinematics and random walk of feet in contact, measured while the robot walks.
/// The distance d of two standing feet is known from the joints alone, whatever the base does. With
/// white noise of variance s^2 N along the line between the feet, N the assumed one, and a random
/// walk of density q of each foot, its change over a time T has the variance
///
///   E (d(t + T) - d(t))^2 = s^2 (N(t) + N(t + T)) + 2 q^2 T
///
/// Over one sample it shows the noise, over a tenth of a second also the walk: two equations for
/// s^2 and q^2, with sums over fading memory. No allocation.
class FootNoise {
 public:
  /// @param contact_noise  q before the first measurements, m/sqrt(s).
  explicit FootNoise(double contact_noise);
  void reset();

  struct Foot {
    Vector3<double> p_SF = Vector3<double>::Zero();
    Matrix3<double> noise = Matrix3<double>::Identity();  ///< assumed covariance
    bool stands = false;  ///< in contact, and not refused: it does not slip
    bool walks = false;   ///< has touched down lately: a robot at rest shows no random walk
  };
  /// All feet at a time.
  void add(double t, const Foot* feet, int count);

  /// s^2, and q, m/sqrt(s).
  double scale() const { return scale_; }
  double contact_noise() const { return contact_noise_; }

  static constexpr double kLeastScale = 0.04, kLargestScale = 25;
  static constexpr double kLeastWalk = 5e-4, kLargestWalk = 2e-2;  ///< m/sqrt(s)

 private:
  /// Sums of squared changes, of the assumed variances, and of times.
  struct Sums {
    double squares = 0, variances = 0, times = 0;
    void fade(double factor) {
      squares *= factor;
      variances *= factor;
      times *= factor;
    }
    void add(double square, double variance, double time) {
      squares += square;
      variances += variance;
      times += time;
    }
  };
  struct Pair {
    bool open = false, walks = false;
    double distance = 0, variance = 0;                     ///< at the last sample
    double anchor = 0, anchor_variance = 0, anchor_t = 0;  ///< at the start of a lag
  };
  void solve();

  double first_walk_, scale_ = 1, contact_noise_ = 0, t_ = 0;
  double prior_variance_ = 0;  ///< sum of the changes that the assumed noise counts as
  bool started_ = false, has_prior_ = false;
  Sums fast_, slow_;
  std::array<Pair, kMaxFeet*(kMaxFeet - 1) / 2> pairs_;
};

}  // namespace limb
