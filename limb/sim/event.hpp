#pragma once

#include <functional>
#include <span>
#include <vector>

#include "limb/sim/integrator.hpp"

namespace limb {

/// Something that happens when a function of the state passes through zero: a joint reaches its
/// limit, a point crosses a plane.
struct Event {
  enum class Direction { rising, falling, both };
  std::function<double(const State<double>&)> value;
  Direction direction = Direction::both;
};

/// Coordinate q[index] passes `level`.
Event coordinate_event(int index, double level, Event::Direction direction);

/// Watches the steps of an integrator for events.
class EventFinder {
 public:
  explicit EventFinder(std::vector<Event> events) : events_(std::move(events)) {}

  /// To be called where a run begins, and after every change of the state from outside.
  void begin(const State<double>& s);

  /// After a step that ended in s: the first event inside it, or -1. If there is one, s is moved
  /// back to it: to the first time, to rounding, at which the function has its new sign. A function
  /// that changes sign twice in a step is not noticed.
  int find(Integrator<double>& integrator, State<double>& s);

 private:
  bool crosses(std::size_t i, double from, double to) const;

  std::vector<Event> events_;
  std::vector<double> values_, after_;
  double t_ = 0;
  State<double> trial_;
};

}  // namespace limb
