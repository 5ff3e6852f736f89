#include "limb/legged/find_feet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <unordered_map>

#include "limb/base/error.hpp"
#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/legged/body_end.hpp"

namespace limb {
namespace {

constexpr const char* kFootWords[] = {"foot", "feet", "toe", "paw", "hoof", "contact"};

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// One foot, and the leg that it may belong to.
struct Candidate {
  BodyId body;
  Vector3<double> p_B;  ///< of the foot
  std::string frame;    ///< at the foot; empty: to be added
  std::string source;
  std::vector<BodyId> joints;
  Vector3<double> hip, foot;  ///< first joint and foot at zero coordinates, axes of the base
  double length = 0;          ///< from the hip along all joints to the foot

  double lowest() const { return hip.z() - length; }
};

class FootSearch {
 public:
  FootSearch(const char* call, Description<double>& robot, Base base)
      : call_(call),
        robot_(robot),
        model_(build_model(robot, base).without_couplings()),
        kinematics_(model_) {
    forward_kinematics(model_, model_.neutral(), kinematics_);
  }

  std::vector<Candidate> given(const std::vector<std::string>& names) const {
    std::vector<Candidate> all;
    for (const std::string& name : names) all.push_back(named(name));
    return all;
  }

  /// One per branch of the base, at most.
  std::vector<Candidate> found() const {
    for (const char* word : kFootWords) {
      std::vector<Candidate> all = with_name(word);
      if (all.size() >= 4) return legs_of(std::move(all));
    }
    return legs_of(by_shape());
  }

  std::vector<FoundFoot> commit(std::vector<Candidate> feet) {
    // Front before rear, then left before right.
    std::sort(feet.begin(), feet.end(),
              [](const Candidate& a, const Candidate& b) { return a.hip.x() > b.hip.x(); });
    for (const auto at : {feet.begin(), feet.begin() + 2}) {
      std::sort(at, at + 2,
                [](const Candidate& a, const Candidate& b) { return a.hip.y() > b.hip.y(); });
    }
    std::vector<FoundFoot> result;
    for (const Candidate& foot : feet) result.push_back({add_frame(foot), foot.source});
    return result;
  }

  [[noreturn]] void refuse(const std::vector<Candidate>& legs) const {
    std::string list;
    for (const Candidate& leg : legs) {
      list += fmt::format("{}{} of {} joint{}", list.empty() ? " (" : ", ", title(leg),
                          leg.joints.size(), leg.joints.size() == 1 ? "" : "s");
    }
    if (list.empty()) {
      int branches = 0;
      for (const Body<double>& body : model_.bodies()) branches += body.parent.value() == 1 ? 1 : 0;
      list = fmt::format(" among {} branches of '{}'", branches, model_.bodies()[1].link);
    } else {
      list += ")";
    }
    fail(call_, "robot '" + model_.name() + "'",
         fmt::format("one with {} leg{} that reach{} the ground{}", legs.size(),
                     legs.size() == 1 ? "" : "s", legs.size() == 1 ? "es" : "", list),
         "four legs of three joints each", "name the four feet if these are wrong");
  }

 private:
  Candidate candidate(BodyId body, const Vector3<double>& p_B, std::string frame,
                      std::string source) const {
    Candidate c{body, p_B, std::move(frame), std::move(source), bodies_to(model_, body), {}, {}};
    c.foot = kinematics_.X_WB[static_cast<std::size_t>(body.value())] * p_B;
    c.hip = c.foot;
    Vector3<double> last = c.foot;
    for (auto joint = c.joints.rbegin(); joint != c.joints.rend(); ++joint) {
      c.hip = kinematics_.X_WB[static_cast<std::size_t>(joint->value())].p;
      c.length += (c.hip - last).norm();
      last = c.hip;
    }
    return c;
  }

  Candidate at_frame(const Frame<double>& frame, std::string source) const {
    return candidate(frame.body, frame.X_BF.p, frame.name, std::move(source));
  }

  std::optional<Candidate> at_end_of(BodyId body) const {
    const auto end = body_end(robot_, model_, body);
    if (!end) return std::nullopt;
    return candidate(body, end->p_B, end->frame, end->source);
  }

  /// A frame, or the end of a body if the frame is that of a moving link.
  Candidate named(const std::string& name) const {
    for (std::size_t i = 1; i < model_.bodies().size(); ++i) {
      const Body<double>& body = model_.bodies()[i];
      if (body.name != name && body.link != name) continue;
      if (const auto end = at_end_of(BodyId(static_cast<int>(i)))) {
        Candidate c = *end;
        c.source = "given, " + c.source;
        return c;
      }
    }
    return at_frame(model_.frame(model_.find_frame(name)), "given");
  }

  bool is_on_joint(const Frame<double>& frame) const { return frame.X_BF.p.norm() < 1e-3; }

  std::vector<Candidate> with_name(const std::string& word) const {
    std::vector<Candidate> all;
    for (const Frame<double>& frame : model_.frames()) {
      if (frame.body.value() < 2 || lower_case(frame.name).find(word) == std::string::npos)
        continue;
      Candidate c = at_frame(frame, "frame named " + word);
      // A foot that moves in an ankle: its frame is there, its end is on the ground.
      if (is_on_joint(frame)) {
        if (const auto end = at_end_of(frame.body)) c = *end;
      }
      keep_farthest(all, std::move(c));
    }
    return all;
  }

  /// The end of the last body of each branch: of the one with the most joints.
  std::vector<Candidate> by_shape() const {
    std::vector<Candidate> all;
    std::vector<bool> has_child(model_.bodies().size(), false);
    for (const Body<double>& body : model_.bodies()) {
      if (body.parent.value() >= 0) has_child[static_cast<std::size_t>(body.parent.value())] = true;
    }
    for (std::size_t i = 2; i < model_.bodies().size(); ++i) {
      if (has_child[i]) continue;
      if (auto end = at_end_of(BodyId(static_cast<int>(i)))) keep_farthest(all, std::move(*end));
    }
    return all;
  }

  static void keep_farthest(std::vector<Candidate>& all, Candidate c) {
    if (c.joints.empty()) return;
    const auto same = std::find_if(all.begin(), all.end(), [&](const Candidate& other) {
      return other.joints.front() == c.joints.front();
    });
    if (same == all.end()) {
      all.push_back(std::move(c));
    } else if (c.foot.norm() > same->foot.norm()) {
      *same = std::move(c);
    }
  }

  /// Branches that reach the ground and have a mirror image.
  static std::vector<Candidate> legs_of(std::vector<Candidate> all) {
    double lowest = 0, length = 0;
    for (const Candidate& c : all) {
      if (c.lowest() < lowest) length = c.length;
      lowest = std::min(lowest, c.lowest());
    }
    std::erase_if(all, [&](const Candidate& c) { return c.lowest() > lowest + 0.35 * length; });
    std::vector<Candidate> legs;
    for (const Candidate& c : all) {
      const double near = 0.1 * c.length;
      const bool mirrored = std::any_of(all.begin(), all.end(), [&](const Candidate& other) {
        return &other != &c && other.joints.size() == c.joints.size() &&
               std::abs(other.hip.x() - c.hip.x()) < near &&
               std::abs(other.hip.z() - c.hip.z()) < near &&
               std::abs(other.hip.y() - c.hip.y()) > near &&
               std::abs(other.length - c.length) < near;
      });
      if (mirrored) legs.push_back(c);
    }
    return legs;
  }

  std::string title(const Candidate& foot) const {
    return foot.frame.empty() ? model_.body(foot.body).link : foot.frame;
  }

  /// The frame at the foot, which is added if the robot has no frame there.
  std::string add_frame(const Candidate& foot) {
    if (!foot.frame.empty()) return foot.frame;
    const Body<double>& body = model_.body(foot.body);
    const Frame<double>& link = model_.frame(model_.find_frame(body.link));
    std::string name = body.link + "_foot";
    const auto taken = [&] {
      return std::any_of(model_.frames().begin(), model_.frames().end(),
                         [&](const Frame<double>& frame) { return frame.name == name; });
    };
    while (taken()) name += "_point";
    FrameDescription<double> frame;
    frame.name = name;
    frame.link = body.link;
    frame.X_LF.p = link.X_BF.inverse() * foot.p_B;
    robot_.frames.push_back(std::move(frame));
    return name;
  }

  const char* call_;
  Description<double>& robot_;
  Model<double> model_;
  Kinematics<double> kinematics_;
};

}  // namespace

std::vector<BodyId> bodies_to(const Model<double>& model, BodyId body) {
  std::vector<BodyId> all;
  for (; body.value() > 1; body = model.body(body).parent) all.push_back(body);
  std::reverse(all.begin(), all.end());
  return all;
}

std::vector<FoundFoot> find_feet(const char* call, Description<double>& robot, Base base,
                                 const std::vector<std::string>& given) {
  FootSearch search(call, robot, base);
  if (!given.empty() && given.size() != 4) {
    fail(call, "feet", fmt::format("{} names", given.size()), "four, one per leg");
  }
  std::vector<Candidate> feet = given.empty() ? search.found() : search.given(given);
  const bool on_base = std::any_of(feet.begin(), feet.end(),
                                   [](const Candidate& foot) { return foot.joints.empty(); });
  if (feet.size() != 4 || on_base) search.refuse(feet);
  return search.commit(std::move(feet));
}

}  // namespace limb
