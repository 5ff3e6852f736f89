#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "limb/base/nearest.hpp"
#include "limb/model/lint/check_structure.hpp"

namespace limb {
namespace structure_detail {

constexpr int kNone = -1;
/// A search for the nearest name reads all names: the limit keeps files with many typos linear.
constexpr int kMaxSuggestions = 20;
constexpr std::size_t kMaxNames = 8;

/// 'a', 'b', 'c' and 4 more
inline std::string name_list(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMaxNames); ++i) {
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", names[i]);
  }
  if (names.size() > kMaxNames) text += fmt::format(" and {} more", names.size() - kMaxNames);
  return text;
}

/// Names with the index of their first occurrence.
class Names {
 public:
  bool add(const std::string& name) {
    const bool fresh = index_.emplace(name, static_cast<int>(all_.size())).second;
    all_.push_back(name);
    return fresh;
  }
  [[nodiscard]] int find(const std::string& name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? kNone : found->second;
  }
  /// " (closest: 'base_link')" or "".
  std::string suggestion(const std::string& typed) {
    if (suggestions_++ >= kMaxSuggestions) return {};
    const std::string close = nearest(typed, all_);
    return close.empty() ? "" : fmt::format(" (closest: '{}')", close);
  }
  [[nodiscard]] const std::string& operator[](int i) const {
    return all_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] int size() const { return static_cast<int>(all_.size()); }

 private:
  std::unordered_map<std::string, int> index_;
  std::vector<std::string> all_;
  int suggestions_ = 0;
};

template <typename T>
class Checker {
 public:
  Checker(const Description<T>& robot, Diagnostics& diagnostics)
      : robot_(robot), diagnostics_(diagnostics) {}

  void run() {
    index_names("link", robot_.links, links_);
    index_names("joint", robot_.joints, joints_);
    Names frames;
    index_names("frame", robot_.frames, frames);
    if (robot_.links.empty()) {
      add("link-none", {robot_.file, 0}, "the robot has no link",
          "there is nothing that could move", "add a link");
    }
    add_world();
    connect();
    find_cycles();
    find_roots();
    check_couplings();
    check_attachments();
    check_limits();
  }

 private:
  void add(std::string rule, const SourceLocation& source, std::string message, std::string reason,
           std::string fix = {}, Diagnostic::Severity severity = Diagnostic::Severity::error) {
    diagnostics_.push_back(
        {severity, std::move(rule), source, std::move(message), std::move(reason), std::move(fix)});
  }

  template <typename Items>
  void index_names(const char* kind, const Items& items, Names& names) {
    std::unordered_map<std::string, const SourceLocation*> first;
    for (const auto& item : items) {
      const bool fresh = names.add(item.name);
      if (item.name.empty()) {
        add("name-empty", item.source, fmt::format("a {} has no name", kind),
            "everything is found by its name", fmt::format("give the {} a name", kind));
      } else if (!fresh) {
        const std::string where = first[item.name]->text();
        add(fmt::format("{}-duplicate", kind), item.source,
            fmt::format("{} '{}' is declared twice{}", kind, item.name,
                        where.empty() ? "" : fmt::format(", first at {}", where)),
            "a name must mean one thing", fmt::format("rename one, for example '{}_2'", item.name));
      } else {
        first[item.name] = &item.source;
      }
    }
  }

  /// The world exists without a declaration if it is the parent of a joint.
  void add_world() {
    if (links_.find(kWorldLink) != kNone) return;
    const bool used = std::any_of(robot_.joints.begin(), robot_.joints.end(),
                                  [](const auto& j) { return j.parent == kWorldLink; });
    if (used) links_.add(kWorldLink);
  }

  int link(const char* role, const std::string& name, const std::string& owner,
           const SourceLocation& source, const char* rule) {
    const int found = links_.find(name);
    if (found == kNone) {
      add(rule, source,
          fmt::format("{} names {} '{}', no such link{}", owner, role, name,
                      links_.suggestion(name)),
          "it is not connected", fmt::format("declare the link '{}' or correct the name", name));
    }
    return found;
  }

  void connect() {
    parent_.assign(static_cast<std::size_t>(links_.size()), kNone);
    joint_.assign(static_cast<std::size_t>(links_.size()), kNone);
    for (std::size_t i = 0; i < robot_.joints.size(); ++i) {
      const auto& j = robot_.joints[i];
      const std::string owner = fmt::format("joint '{}'", j.name);
      const int parent = link("parent", j.parent, owner, j.source, "link-unknown");
      const int child = link("child", j.child, owner, j.source, "link-unknown");
      if (parent == kNone || child == kNone) {
        // It is still named as a child: not a second root.
        if (child != kNone) joint_[static_cast<std::size_t>(child)] = static_cast<int>(i);
        continue;
      }
      if (parent == child) {
        add("joint-self-parent", j.source,
            fmt::format("joint '{}' has link '{}' as parent and as child", j.name, j.parent),
            "a link cannot move relative to itself", "name another parent or child");
        joint_[static_cast<std::size_t>(child)] = static_cast<int>(i);
        continue;
      }
      int& before = joint_[static_cast<std::size_t>(child)];
      if (before != kNone) {
        add("link-two-parents", j.source,
            fmt::format("link '{}' is the child of joint '{}' and of joint '{}'", j.child,
                        robot_.joints[static_cast<std::size_t>(before)].name, j.name),
            "in a tree each link has one parent",
            "remove one of the joints, or close the loop with a loop closure");
        continue;
      }
      before = static_cast<int>(i);
      parent_[static_cast<std::size_t>(child)] = parent;
    }
  }

  /// Each link has at most one parent, so following the parents either ends or cycles.
  void find_cycles() {
    enum : char { unvisited, visiting, visited };
    std::vector<char> state(parent_.size(), unvisited);
    for (int start = 0; start < links_.size(); ++start) {
      int i = start;
      while (i != kNone && state[static_cast<std::size_t>(i)] == unvisited) {
        state[static_cast<std::size_t>(i)] = visiting;
        i = parent_[static_cast<std::size_t>(i)];
      }
      if (i != kNone && state[static_cast<std::size_t>(i)] == visiting) report_cycle(i);
      for (i = start; i != kNone && state[static_cast<std::size_t>(i)] == visiting;
           i = parent_[static_cast<std::size_t>(i)]) {
        state[static_cast<std::size_t>(i)] = visited;
      }
    }
  }

  void report_cycle(int start) {
    std::vector<std::string> names;
    int i = start;
    do {
      names.push_back(links_[i]);
      i = parent_[static_cast<std::size_t>(i)];
    } while (i != start);
    std::reverse(names.begin() + 1, names.end());
    const int joint = joint_[static_cast<std::size_t>(start)];
    add("link-cycle", robot_.joints[static_cast<std::size_t>(joint)].source,
        fmt::format("links {} form a cycle", name_list(names)),
        "no link of a cycle is reached from a root",
        "remove one joint of the cycle, or make it a loop closure");
  }

  void find_roots() {
    std::vector<std::string> roots;
    SourceLocation second;
    for (int i = 0; i < links_.size(); ++i) {
      // A duplicate is reported as such, not as a root.
      if (joint_[static_cast<std::size_t>(i)] != kNone || links_.find(links_[i]) != i) continue;
      roots.push_back(links_[i]);
      // Source of the second root; an undeclared world has none.
      if (roots.size() <= 2 && static_cast<std::size_t>(i) < robot_.links.size()) {
        second = robot_.links[static_cast<std::size_t>(i)].source;
      }
    }
    if (roots.size() < 2) return;
    const bool has_world = links_.find(kWorldLink) != kNone;
    add("root-several", second,
        fmt::format("the robot has {} roots: {}", roots.size(), name_list(roots)),
        "a tree has one root, and a link without a joint is not part of the robot",
        fmt::format("join '{}' to '{}' by a joint (fixed, if it does not move), or remove it",
                    roots[has_world && roots[1] == kWorldLink ? 0 : 1],
                    roots[has_world && roots[1] == kWorldLink ? 1 : 0]));
  }

  int coupled_joint(const std::string& name, const char* role, const SourceLocation& source,
                    const std::string& owner) {
    const int found = joints_.find(name);
    if (found == kNone) {
      add("coupling-unknown-joint", source,
          fmt::format("{} names {} '{}', no such joint{}", owner, role, name,
                      joints_.suggestion(name)),
          "its coordinate cannot be computed", "correct the name or remove the coupling");
    } else if (const auto type = robot_.joints[static_cast<std::size_t>(found)].type;
               joint_nv(type) != 1) {
      add("coupling-not-one-dof", source,
          fmt::format("{}: joint '{}' is {} and has {} degrees of freedom, expected 1", owner, name,
                      to_text(type), joint_nv(type)),
          "a coupling relates single coordinates", "couple joints with one degree of freedom");
    }
    return found;
  }

  void refuse_self(const CouplingDescription<T>& c) {
    add("coupling-self", c.source, fmt::format("joint '{}' follows itself", c.joint),
        "its coordinate would be defined by itself", "name the joint that drives it");
  }

  void check_couplings() {
    // used_by[b] contains a: coordinate a is computed from coordinate b.
    std::vector<std::vector<int>> used_by(static_cast<std::size_t>(joints_.size()));
    std::vector<int> unresolved(static_cast<std::size_t>(joints_.size()), 0);
    std::vector<const SourceLocation*> coupled(static_cast<std::size_t>(joints_.size()), nullptr);
    for (const auto& c : robot_.couplings) {
      const std::string owner = fmt::format("coupling of joint '{}'", c.joint);
      if (const int fixed = joints_.find(c.joint);
          fixed != kNone &&
          robot_.joints[static_cast<std::size_t>(fixed)].type == JointType::fixed) {
        add("coupling-of-fixed", c.source,
            fmt::format("joint '{}' is fixed and follows another joint", c.joint),
            "a joint that does not move follows nothing; the coupling is ignored",
            "remove the coupling, or give the joint its type", Diagnostic::Severity::note);
        continue;
      }
      if (c.is_polynomial() && c.terms.size() != 1) {
        add("coupling-powers", c.source,
            fmt::format("{}: a polynomial of {} joints, expected 1", owner, c.terms.size()),
            "its powers are those of one coordinate", "remove the powers or the other terms");
        continue;
      }
      if (c.is_polynomial()) {  // a constraint: there may be several, and cycles
        const std::string& leader = c.terms.front().joint;
        coupled_joint(c.joint, "joint", c.source, owner);
        if (leader != c.joint) coupled_joint(leader, "joint", c.source, owner);
        if (leader == c.joint) refuse_self(c);
        continue;
      }
      const int joint = coupled_joint(c.joint, "joint", c.source, owner);
      if (joint != kNone && coupled[static_cast<std::size_t>(joint)] != nullptr) {
        add("coupling-twice", c.source, fmt::format("joint '{}' is coupled twice", c.joint),
            "a coordinate has one value", "remove one of the couplings");
        continue;
      }
      if (joint != kNone) coupled[static_cast<std::size_t>(joint)] = &c.source;
      for (const auto& term : c.terms) {
        if (term.joint == c.joint) {
          refuse_self(c);
          continue;
        }
        const int driver = coupled_joint(term.joint, "joint", c.source, owner);
        if (joint == kNone || driver == kNone) continue;
        used_by[static_cast<std::size_t>(driver)].push_back(joint);
        ++unresolved[static_cast<std::size_t>(joint)];
      }
    }
    // Topological sort: coordinates that remain form a cycle.
    std::vector<int> ready;
    for (int i = 0; i < joints_.size(); ++i) {
      if (unresolved[static_cast<std::size_t>(i)] == 0) ready.push_back(i);
    }
    while (!ready.empty()) {
      const int i = ready.back();
      ready.pop_back();
      for (const int next : used_by[static_cast<std::size_t>(i)]) {
        if (--unresolved[static_cast<std::size_t>(next)] == 0) ready.push_back(next);
      }
    }
    std::vector<std::string> cyclic;
    const SourceLocation* where = nullptr;
    for (int i = 0; i < joints_.size(); ++i) {
      if (unresolved[static_cast<std::size_t>(i)] <= 0) continue;
      if (where == nullptr) where = coupled[static_cast<std::size_t>(i)];
      cyclic.push_back(joints_[i]);
    }
    if (!cyclic.empty()) {
      add("coupling-cycle", *where,
          fmt::format("joints {} follow each other in a cycle", name_list(cyclic)),
          "none of their coordinates is free", "let one of them be driven");
    }
  }

  void check_attachments() {
    for (const auto& f : robot_.frames) {
      if (f.link == kWorldLink) continue;
      link("link", f.link, fmt::format("frame '{}'", f.name), f.source, "frame-unknown-link");
    }
    for (const auto& l : robot_.loops) {
      const std::string owner = fmt::format("loop closure '{}'", l.name);
      if (l.link_a != kWorldLink) link("link", l.link_a, owner, l.source, "loop-unknown-link");
      if (l.link_b != kWorldLink) link("link", l.link_b, owner, l.source, "loop-unknown-link");
    }
    for (const auto& a : robot_.actuators) {
      if (joints_.find(a.joint) != kNone) continue;
      add("actuator-unknown-joint", a.source,
          fmt::format("an actuator names joint '{}', no such joint{}", a.joint,
                      joints_.suggestion(a.joint)),
          "it drives nothing", "correct the name or remove the actuator");
    }
  }

  void check_limits() {
    for (const auto& j : robot_.joints) {
      const int nv = joint_nv(j.type);
      if (j.limits.empty() || static_cast<int>(j.limits.size()) == nv) continue;
      add("limits-count", j.source,
          fmt::format("joint '{}' is {} with {} degrees of freedom and has {} limits", j.name,
                      to_text(j.type), nv, j.limits.size()),
          "each degree of freedom has its own limits",
          nv == 0 ? std::string("remove the limits") : fmt::format("give {} limits, or none", nv));
    }
  }

  const Description<T>& robot_;
  Diagnostics& diagnostics_;
  Names links_, joints_;
  std::vector<int> parent_;  // link -> parent link
  std::vector<int> joint_;   // link -> joint above it
};

}  // namespace structure_detail

template <typename T>
void check_structure(const Description<T>& robot, Diagnostics& diagnostics) {
  structure_detail::Checker<T>(robot, diagnostics).run();
}

}  // namespace limb
