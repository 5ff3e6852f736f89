#include "limb/sim/integrate/event.hpp"

#include "limb/sim/integrate/step_end.hpp"

namespace limb {

Event coordinate_event(int index, double level, Event::Direction direction) {
  return {[index, level](const RobotState<double>& s) { return s.q[index] - level; }, direction};
}

void EventFinder::begin(const RobotState<double>& s) {
  values_.resize(events_.size());
  after_.resize(events_.size());
  for (std::size_t i = 0; i < events_.size(); ++i) values_[i] = events_[i].value(s);
  t_ = s.t;
  trial_ = s;
}

bool EventFinder::crosses(std::size_t i, double from, double to) const {
  const bool rises = from < 0 && to >= 0, falls = from > 0 && to <= 0;
  switch (events_[i].direction) {
    case Event::Direction::rising:
      return rises;
    case Event::Direction::falling:
      return falls;
    default:
      return rises || falls;
  }
}

int EventFinder::find(Integrator<double>& integrator, RobotState<double>& s) {
  int first = -1;
  double t_first = s.t;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    after_[i] = events_[i].value(s);
    if (!crosses(i, values_[i], after_[i])) continue;
    // Alternates regula falsi and bisection: the function at `high` always has the new sign.
    double low = t_, high = s.t, at_low = values_[i], at_high = after_[i];
    bool secant = true;
    while (true) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) break;
      const double guess = low - at_low * (high - low) / (at_high - at_low);
      const double t = secant && guess > low && guess < high ? guess : middle;
      secant = !secant;
      integrator.state_at(t, trial_);
      const double value = events_[i].value(trial_);
      const bool passed = crosses(i, values_[i], value);
      (passed ? high : low) = t;
      (passed ? at_high : at_low) = value;
    }
    if (first < 0 || high < t_first) {
      first = static_cast<int>(i);
      t_first = high;
    }
  }
  if (first >= 0) {
    integrator.state_at(t_first, trial_);
    copy_state(trial_, s);
    for (std::size_t i = 0; i < events_.size(); ++i) after_[i] = events_[i].value(s);
  }
  values_.swap(after_);
  t_ = s.t;
  return first;
}

}  // namespace limb
