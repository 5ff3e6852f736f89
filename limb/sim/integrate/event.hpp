#pragma once

#include <functional>
#include <span>
#include <vector>

#include "limb/sim/integrate/integrator.hpp"

namespace limb {

/// A zero crossing of a function of the state: a joint reaches its limit, a point crosses a plane.
struct Event {
  enum class Direction { rising, falling, both };
  std::function<double(const RobotState<double>&)> value;
  Direction direction = Direction::both;
};

/// Coordinate q[index] crosses `level`.
Event coordinate_event(int index, double level, Event::Direction direction);

/// Locates events within the steps of an integrator.
class EventFinder {
 public:
  explicit EventFinder(std::vector<Event> events) : events_(std::move(events)) {}

  /// To be called at the start of a run, and after every external change of the state.
  void begin(const RobotState<double>& s);

  /// After a step that ended in s: index of the first event inside it, or -1. If there is one, s
  /// becomes the state at the first time, to rounding, at which the function has its new sign.
  /// Misses a function that changes sign twice in a step.
  int find(Integrator<double>& integrator, RobotState<double>& s);

 private:
  bool crosses(std::size_t i, double from, double to) const;

  std::vector<Event> events_;
  std::vector<double> values_, after_;
  double t_ = 0;
  RobotState<double> trial_;
};

}  // namespace limb
