#include "limb/model/mjcf/read_mjcf_actuators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "limb/model/mjcf/read_mjcf_reference.hpp"

namespace limb::mjcf {
namespace {

/// The gains that one level (an element, or a class) sets, on top of those of the levels above it.
struct Gains {
  double gain = 1;
  double bias[3] = {0, 0, 0};  ///< force = gain u + bias[0] + bias[1] x + bias[2] dx/dt
  bool affine = false;         ///< the bias acts
  double damping_ratio = 0;

  void set_position(const Attributes& a, const Node* kp, const Node* kv, const Node* ratio) {
    if (kp != nullptr) {
      gain = a.numbers_of(*kp, "kp", 1).value_or(std::vector<double>{1})[0];
      bias[1] = -gain;
    }
    if (kv != nullptr) {
      bias[2] = -a.numbers_of(*kv, "kv", 1).value_or(std::vector<double>{0})[0];
    }
    if (ratio != nullptr) {
      damping_ratio = a.numbers_of(*ratio, "dampratio", 1).value_or(std::vector<double>{0})[0];
    }
    affine = true;
  }
};

/// The gains as MuJoCo finds them: each level writes them in the form of its element.
Gains read_gains(const Attributes& a) {
  Gains g;
  const std::string_view own = a.node().tag();
  bool given = false;  // by kp, kv or gainprm of any level
  for (std::size_t level = a.levels(); level-- > 0;) {
    const Node* kp = a.at(level, "kp");
    const Node* kv = a.at(level, "kv");
    const Node* ratio = a.at(level, "dampratio");
    const Node* gainprm = a.at(level, "gainprm");
    const Node* biasprm = a.at(level, "biasprm");
    const Node* biastype = a.at(level, "biastype");
    const auto tag_of = [](const Node* node) {
      return node == nullptr ? std::string_view() : node->tag();
    };
    if (tag_of(kv) == "velocity") {
      g.gain = a.numbers_of(*kv, "kv", 1).value_or(std::vector<double>{1})[0];
      g.bias[1] = 0;
      g.bias[2] = -g.gain;
      g.affine = given = true;
    } else if (kp != nullptr || tag_of(kv) == "position" || tag_of(ratio) == "position") {
      g.set_position(a, kp, kv, ratio);
      given = true;
    }
    if (gainprm != nullptr) {
      if (const auto x = a.numbers_up_to(*gainprm, "gainprm", 10)) g.gain = x->front();
      given = true;
    }
    if (biasprm != nullptr) {
      if (const auto x = a.numbers_up_to(*biasprm, "biasprm", 10)) {
        for (std::size_t i = 0; i < std::min<std::size_t>(3, x->size()); ++i) g.bias[i] = (*x)[i];
      }
    }
    if (biastype != nullptr) {
      const std::string word = biastype->element->Attribute("biastype");
      g.affine = word == "affine";
    }
  }
  if (own == "motor") return {};
  if (own == "position" || own == "intvelocity") {
    if (!given) g.bias[1] = -1;
    g.affine = true;
  } else if (own == "velocity") {
    if (!given) g.bias[2] = -1;
    g.affine = true;
  }
  return g;
}

/// What limb does not model of an actuator and its state or transmission, or nullptr.
const char* unsupported(const Attributes& a) {
  const std::string_view tag = a.node().tag();
  if (tag == "muscle" || a.text("dyntype", "none") == "muscle" ||
      a.text("gaintype", "fixed") == "muscle" || a.text("biastype", "none") == "muscle") {
    return "muscles";
  }
  if (tag == "plugin" || tag == "adhesion" || tag == "damper" || tag == "pid" || tag == "dcmotor" ||
      tag == "orientation") {
    return "actuators of this kind";
  }
  if (a.text("gaintype", "fixed") == "affine" || a.text("gaintype", "fixed") == "user") {
    return "gains that depend on the state";
  }
  return nullptr;
}

/// A state between control and force, which has no counterpart in limb.
enum class Activation {
  none,
  lag,    ///< follows the control
  other,  ///< integral of the control, or unknown
};
Activation activation(const Attributes& a) {
  const std::string_view tag = a.node().tag();
  if (tag == "cylinder" || (tag == "position" && a.number("timeconst", 0) > 0)) {
    return Activation::lag;
  }
  if (tag == "intvelocity") return Activation::other;
  const std::string type = a.text("dyntype", "none");
  if (type == "none") return Activation::none;
  return type == "filter" || type == "filterexact" ? Activation::lag : Activation::other;
}

ServoDescription read_servo(const Attributes& a, const JointDescription<double>& joint,
                            const Compiler& compiler) {
  ServoDescription servo;
  if (const auto force = active_range(a, "forcerange", "forcelimited", compiler)) {
    servo.force_min = (*force)[0];
    servo.force_max = (*force)[1];
  }
  if (const auto control = active_range(a, "ctrlrange", "ctrllimited", compiler)) {
    servo.control_min = (*control)[0];
    servo.control_max = (*control)[1];
  }
  const Gains gains = read_gains(a);
  const double inherit = a.number("inheritrange", 0);
  if (inherit > 0 && !joint.limits.empty() && joint.limits[0].lower && joint.limits[0].upper) {
    const double middle = 0.5 * (*joint.limits[0].lower + *joint.limits[0].upper);
    const double half = 0.5 * inherit * (*joint.limits[0].upper - *joint.limits[0].lower);
    servo.control_min = middle - half;
    servo.control_max = middle + half;
  }
  servo.gain = gains.gain;
  if (gains.affine) {
    servo.offset = gains.bias[0];
    servo.stiffness = -gains.bias[1];
    servo.damping = -gains.bias[2];
    servo.damping_ratio = gains.damping_ratio;
  }
  return servo;
}

double magnitude(double min, double max) {
  return std::max(std::abs(min), std::abs(max));
}

/// Largest force of an actuator, before its gear: that of its range, and for one whose force is its
/// control times a gain also that of its control.
double largest_force(const ServoDescription& servo) {
  const double force = magnitude(servo.force_min, servo.force_max);
  if (servo.has_feedback()) return force;
  const double control = magnitude(servo.control_min, servo.control_max);
  return std::isfinite(control) ? std::min(force, std::abs(servo.gain) * control) : force;
}

/// Lowers the effort limit of a joint to what its actuators can exert together.
void limit_effort(JointDescription<double>& joint, double effort) {
  if (!std::isfinite(effort) || !(effort > 0)) return;
  if (joint.limits.empty()) joint.limits.resize(1);
  std::optional<double>& limit = joint.limits[0].effort;
  limit = std::min(effort, limit.value_or(effort));
}

class ActuatorReader {
 public:
  explicit ActuatorReader(ReadContext& context) : r_(context) {}

  void read(const Node& node) {
    const DefaultClass& default_class =
        r_.defaults.named_by(node, "class", r_.defaults.main(), r_.diagnostics);
    const Attributes a(node, "actuator", default_class, r_.diagnostics);
    r_.controls.emplace_back();
    if (const char* what = unsupported(a)) return leave_out(a, fmt::format("limb has no {}", what));
    if (a.has("tendon")) return drive_tendon(a);
    const char* attribute = a.has("joint") ? "joint" : "jointinparent";
    if (!a.has(attribute)) {
      return leave_out(a, "it drives neither a joint nor a fixed tendon");
    }
    const auto* joint = find(a, attribute, "joint", r_.named.joints, r_);
    if (joint == nullptr) return;
    r_.controls.back() = joint->first;
    drive(a, joint->second.index, 1, false);
  }

  void finish() {
    for (const auto& [index, most] : effort_) limit_effort(r_.result.joints[index], most);
  }

 private:
  /// A motor of one joint. ratio: of the tendon through which it acts; shared: with other joints.
  void drive(const Attributes& a, std::size_t index, double ratio, bool shared) {
    JointDescription<double>& driven = r_.result.joints[index];
    std::vector<double> gear = {1, 0, 0, 0, 0, 0};
    (void)a.overlay("gear", gear);
    if (!is_scalar(driven)) {
      if (acts_without_control(a)) return leave_out(a, "it drives a ball or free joint");
      a.warn("gear-not-read", "only the first number of 'gear' is read",
             "the axis of an actuator of a ball or free joint is not modelled");
    }
    ActuationDescription actuator;
    actuator.joint = driven.name;
    actuator.gear = gear[0] * ratio;
    actuator.source = a.node().source();
    actuator.control = r_.controls.size() - 1;
    if (is_scalar(driven)) {
      std::vector<double> damping = {0, 0, 0};
      (void)a.overlay("damping", damping);
      actuator.servo = read_servo(a, driven, r_.compiler);
      const double squared = actuator.gear * actuator.gear;
      driven.armature += squared * a.number("armature", 0);
      driven.damping += squared * damping[0];
      effort_[index] += std::abs(actuator.gear) * largest_force(actuator.servo);
      if (shared) {
        actuator.servo = {};  // that of the tendon acts
        actuator.servo.gain = 0;
      } else {
        leave_out_activation(a, actuator.servo);
      }
    }
    r_.result.actuators.push_back(std::move(actuator));
  }

  /// Whether the actuator exerts a force at zero control, or may do so.
  bool acts_without_control(const Attributes& a) const {
    const ServoDescription servo = read_servo(a, {}, r_.compiler);
    const bool clamped = servo.control_min > 0 || servo.control_max < 0;
    const std::string_view tag = a.node().tag();
    const bool unknown = unsupported(a) != nullptr && tag != "adhesion" && tag != "damper" &&
                         a.text("gaintype", "fixed") != "affine";
    return servo.has_feedback() || clamped || unknown;
  }

  /// An actuator that is not read: an error if it exerts a force without a control.
  void leave_out(const Attributes& a, const std::string& why) const {
    if (acts_without_control(a)) {
      a.error("actuator-not-supported", fmt::format("not supported: {}", why),
              "it exerts a force also without a control");
    } else {
      a.warn("actuator-not-read", fmt::format("not read: {}", why),
             "it exerts no force without a control");
    }
  }

  /// Without a lag, constant controls have the same effect in the end; the integral of a control
  /// that is zero stays zero.
  static void leave_out_activation(const Attributes& a, ServoDescription& servo) {
    const Activation state = activation(a);
    if (state == Activation::none) return;
    if (state == Activation::lag) {
      a.warn("actuator-lag-not-read", "the lag between control and force is not read",
             "the force follows the control at once");
    } else {
      a.warn("actuator-state-not-read", "the state between control and force is not read",
             "its control has no effect");
      servo.gain = 0;
    }
  }

  /// Through a tendon: each of its joints is driven.
  void drive_tendon(const Attributes& a) {
    if (r_.named.spatial_tendons.contains(a.text("tendon"))) {
      return leave_out(a, "it drives a spatial tendon");
    }
    const auto* tendon = find(a, "tendon", "fixed tendon", r_.named.tendons, r_);
    if (tendon == nullptr) return;
    TendonDescription& t = r_.result.tendons[tendon->second];
    if (t.terms.empty()) return;
    const bool shared = t.terms.size() > 1;
    r_.controls.back() = t.terms.front().joint;
    for (const auto& term : t.terms) {
      if (term.ratio != 0) drive(a, r_.named.joints.at(term.joint).index, term.ratio, shared);
    }
    if (!shared) return;
    a.note("tendon-motor", "drives several joints together",
           "for controllers, limb gives each of them a motor of its own");
    std::vector<double> gear = {1, 0, 0, 0, 0, 0};
    (void)a.overlay("gear", gear);
    ServoDescription servo = read_servo(a, {}, r_.compiler);
    leave_out_activation(a, servo);
    t.motors.push_back({gear[0], servo, r_.controls.size() - 1});
  }

  ReadContext& r_;
  std::map<std::size_t, double> effort_;  ///< of each driven joint
};

}  // namespace

void read_actuators(const Node& section, ReadContext& context) {
  ActuatorReader reader(context);
  for (const Node& node : section.children) {
    if (default_tag(node.tag()) != "actuator") {
      note_unknown_child(context.diagnostics, section, node,
                         {"motor", "position", "velocity", "general", "intvelocity", "damper",
                          "cylinder", "muscle", "adhesion", "plugin"});
      continue;
    }
    for_each_copy(references(node), context, [&] { reader.read(node); });
  }
  reader.finish();
}

}  // namespace limb::mjcf
