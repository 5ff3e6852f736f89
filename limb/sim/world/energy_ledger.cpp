#include "limb/sim/world/energy_ledger.hpp"

#include <algorithm>
#include <cmath>

namespace limb {

std::string_view to_text(EnergyEntry entry) {
  constexpr std::array<std::string_view, kEnergyEntries> kNames = {
      "motors",  "external", "walls", "medium",   "damping",    "friction",
      "springs", "tendons",  "stops", "contacts", "correction", "loops"};
  return kNames.at(static_cast<std::size_t>(entry));
}

EnergyEntry EnergyBalance::largest() const {
  const auto found = std::max_element(entries.begin(), entries.end(),
                                      [](double a, double b) { return std::abs(a) < std::abs(b); });
  return static_cast<EnergyEntry>(found - entries.begin());
}

void EnergyLedger::begin(const EnergyState& state) {
  *this = {};
  start_ = state;
}

EnergyBalance EnergyLedger::balance(const EnergyState& now) {
  EnergyBalance b;
  b.now = now;
  b.kinetic = now.kinetic - start_.kinetic;
  b.potential = now.potential - start_.potential;
  b.stored = now.stored - start_.stored;
  b.closure = b.change();
  for (std::size_t i = 0; i < kEnergyEntries; ++i) {
    b.entries[i] = work_[i] + now.stored_in[i] - start_.stored_in[i];
    b.closure -= b.entries[i];
  }
  potential_span_ = std::max(potential_span_, std::abs(b.potential));
  b.exchanged = start_.kinetic + potential_span_ + flow_;
  return b;
}

}  // namespace limb
