#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>

namespace limb {

/// What adds energy to a simulated robot or takes it. Gravity is not among them: its work is the
/// change of the potential energy.
enum class EnergyEntry {
  motors,      ///< motors and servos
  external,    ///< pushes, disturbances, and laws of other kinds
  walls,       ///< WallLaw
  medium,      ///< drag of air or liquid
  damping,     ///< viscous damping of the model's joints
  friction,    ///< Coulomb friction of joints, smooth or exact
  springs,     ///< dampers of joint springs
  tendons,     ///< dampers of tendons
  stops,       ///< soft and hard stops
  contacts,    ///< contact forces
  correction,  ///< lifting of overlapping bodies, in position only
  loops,       ///< projection onto closed loops
  /// Not an entry: the work of the force is the change of its stored energy.
  conservative,
};
inline constexpr std::size_t kEnergyEntries = static_cast<std::size_t>(EnergyEntry::conservative);
/// "motors"
std::string_view to_text(EnergyEntry entry);

/// Energies, or their changes, and energy per entry, J.
using EnergyEntries = std::array<double, kEnergyEntries>;

/// Energies of a robot in a state, J.
struct EnergyState {
  double kinetic = 0, potential = 0, stored = 0;
  EnergyEntries stored_in = {};  ///< part of `stored` of each entry
};

/// Where the energy of a robot went since the start of a run:
///
///   change of kinetic + potential + stored energy = sum of entries + closure
///
/// An entry is positive if it added energy; what dampers took is negative. Stored energy is that of
/// springs, soft stops, tendons, walls and compliant contacts, so that their entries are only what
/// they dissipate. The closure is the error of integration, which vanishes with the step.
struct EnergyBalance {
  EnergyState now;                                ///< J, not changes
  double kinetic = 0, potential = 0, stored = 0;  ///< J, changes
  EnergyEntries entries = {};                     ///< J
  double closure = 0;                             ///< J
  /// J, sum of the magnitudes of all work, the initial kinetic energy and the largest change of the
  /// potential energy: the scale of the closure.
  double exchanged = 0;

  double operator[](EnergyEntry entry) const { return entries[static_cast<std::size_t>(entry)]; }
  double change() const { return kinetic + potential + stored; }
  /// The entry of the largest magnitude.
  EnergyEntry largest() const;
};

/// Sums the work of the steps of a run.
class EnergyLedger {
 public:
  /// Starts a run.
  void begin(const EnergyState& state);
  /// Adds work in a step.
  void add(EnergyEntry entry, double work) {
    work_[static_cast<std::size_t>(entry)] += work;
    flow_ += std::abs(work);
  }
  void add(const EnergyEntries& work) {
    for (std::size_t i = 0; i < kEnergyEntries; ++i) {
      work_[i] += work[i];
      flow_ += std::abs(work[i]);
    }
  }
  /// What an entry that never adds energy takes in a step, at most zero, by its work in the step.
  /// Positive work, such as that of a mean velocity where the velocity turns around within the
  /// step, is an error of integration: it is set off against what the entry takes in later steps,
  /// so that oscillations do not accumulate.
  double loss(EnergyEntry entry, double work) {
    double& ahead = ahead_[static_cast<std::size_t>(entry)];
    const double sum = work + ahead;
    ahead = std::max(sum, 0.0);
    return std::min(sum, 0.0);
  }
  /// The balance in a state.
  EnergyBalance balance(const EnergyState& now);

 private:
  EnergyState start_;
  EnergyEntries work_ = {};
  EnergyEntries ahead_ = {};   ///< positive work of loss(), not set off yet
  double flow_ = 0;            ///< sum of magnitudes
  double potential_span_ = 0;  ///< largest change of the potential energy so far
};

}  // namespace limb
