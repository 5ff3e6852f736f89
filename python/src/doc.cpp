#include "python/src/doc.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

namespace limb::python {
namespace {

/// What an argument of this name is in every function that does not say otherwise.
const std::map<std::string_view, std::string_view>& descriptions() {
  static const std::map<std::string_view, std::string_view> all = {
      {"q", "Configuration, `(nq,)` or `(..., nq)`."},
      {"q0", "First configuration, `(nq,)` or `(..., nq)`."},
      {"q1", "Second configuration, `(nq,)` or `(..., nq)`."},
      {"v", "Velocity, `(nv,)` or `(..., nv)`."},
      {"a", "Acceleration, `(nv,)` or `(..., nv)`."},
      {"tau", "Generalised forces, `(nv,)` or `(..., nv)`."},
      {"external",
       "Wrenches (force, moment) that the environment exerts on frames, at their origins and in\n"
       "        their axes, `{frame: (6,) or (..., 6)}`."},
      {"out", "Array for the result, C-contiguous; a tuple of arrays for several results."},
      {"check",
       "Whether to refuse numbers that are not finite; None: only if the call has a single state."},
      {"frame", "Name of a frame, one of `robot.frames`."},
      {"axes",
       "Reference point and axes of the result: \"local\" (origin and axes of the frame),\n"
       "        \"local_world_aligned\" (origin of the frame, world axes) or \"world\" (origin "
       "and\n"
       "        axes of the world)."},
      {"kind",
       "\"spatial\": the derivative of the spatial velocity; \"classical\": the acceleration of\n"
       "        the point."},
      {"contacts",
       "Frames that are point contacts, or a `ContactSet`: those of the robot with the world."},
      {"point", "Position in the axes of the frame, `(3,)` or `(..., 3)`, m."},
      {"robot", "The robot."},
      {"joint", "Name of a joint."},
      {"name", "Its name."},
      {"seed", "Seed of the random numbers; the same seed gives the same numbers."},
      {"t", "Time, s."},
      {"limits",
       "Largest torque of each velocity, `(nv,)`, or one number for all; None: those of the "
       "model."},
      {"X_ref", "Pose of the frame in the world that is the reference, `(4, 4)`."},
      {"V_ref", "Its velocity, `(6,)`, linear before angular, in world axes; None: zero."},
      {"A_ref", "Its acceleration, `(6,)`, in world axes; None: zero."},
      {"q_ref", "Reference of the configuration, `(nq,)`."},
      {"v_ref", "Reference of the velocity, `(nv,)`; None: zero."},
      {"a_ref", "Reference of the acceleration, `(nv,)`; None: zero."},
      {"reference", "Configuration `(nq,)` to hold, or a `JointPath` to follow from t = 0 on."},
      {"feet",
       "Frames of the feet, with one point each, or soles: name -> points `(n, 3)` in the axes of\n"
       "        the frame."},
      {"posture", "A configuration in which the robot stands, `(nq,)`."},
      {"ground", "The ground; None: a plane."},
      {"plan", "(begin, gait, (forward, left, yaw_rate)) in order of time."},
      {"pushes", "(begin, impulse in N s[, duration])."},
      {"acceleration", "Rate limit of the commands, m/s^2."},
      {"noise", "Noise of the sensors, by name."},
      {"joint_offset", "Largest initial deviation of joints from the posture, rad."},
      {"step", "Step, s."},
      {"foot_radius", "Radius of the feet, m."},
      {"locomotion", "Options of Locomotion, by name."},
      {"state", "What `__getstate__` returned."},
  };
  return all;
}

/// Whether the text has a line "    name: ...".
bool describes(std::string_view text, std::string_view name) {
  const std::string line = "\n    " + std::string(name) + ": ";
  return text.find(line) != text.npos;
}

}  // namespace

const char* with_arguments(const char* text, std::span<const char* const> names) {
  std::string added;
  for (const char* name : names) {
    if (describes(text, name)) continue;
    const auto found = descriptions().find(name);
    if (found == descriptions().end()) continue;
    added += "    " + std::string(name) + ": " + std::string(found->second) + "\n";
  }
  if (added.empty()) return text;
  std::string whole = text;
  const std::string_view head = "\nArgs:\n";
  std::size_t at = whole.find(head);
  if (at != whole.npos) {
    // After the arguments that the text describes, before the next section.
    at = whole.find("\n\n", at + 1);
    at == whole.npos ? whole += "\n" + added : whole.insert(at + 1, added);
  } else {
    at = std::min(whole.find("\n\nReturns:"), whole.find("\n\nRaises:"));
    const std::string section = "\n\nArgs:\n" + added;
    at == whole.npos ? whole += section : whole.insert(at, section.substr(0, section.size() - 1));
  }
  while (whole.back() == '\n') whole.pop_back();
  char* kept = new char[whole.size() + 1];
  std::memcpy(kept, whole.c_str(), whole.size() + 1);
  return kept;
}

}  // namespace limb::python
