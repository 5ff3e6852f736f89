#pragma once

#include <unordered_set>

#include "limb/model/core/model_impl.hpp"
#include "limb/model/lint/check_structure.hpp"

namespace limb {

/// Turns a Description into a Model. Names are looked up in hash maps and the tree is traversed
/// with an explicit stack: linear in the size of the robot, at any depth.
template <typename T>
class ModelBuilder {
 public:
  ModelBuilder(const Description<T>& description, Base base)
      : description_(description), base_(base) {}

  Model<T> build() {
    check_description();
    index_links();
    add_world();
    add_roots();
    add_sites_and_loops();
    build_coupling();
    mark_actuated();
    if constexpr (CanonicalScalar<T>) {
      model_.canonical_ = std::make_shared<const Canonical<T>>(canonicalize(model_));
    }
    return std::move(model_);
  }

 private:
  using JointD = JointDescription<T>;
  static constexpr const char* kRootJoint = "root_joint";

  /// The body of a link and the pose of the link's frame in it.
  struct LinkPlacement {
    BodyId body;
    Pose<T> X_BL;
  };

  void check_description() {
    Diagnostics found;
    check_structure(description_, found);
    throw_first_error("build_model", found);
  }

  void index_links() {
    for (std::size_t i = 0; i < description_.links.size(); ++i) {
      link_index_[description_.links[i].name] = static_cast<int>(i);
    }
    for (const JointD& joint : description_.joints) {
      children_[joint.parent].push_back(&joint);
      has_parent_.insert(joint.child);
    }
  }

  void add_world() {
    model_.name_ = description_.name;
    model_.gravity_ = description_.gravity;
    Body<T> world;
    world.name = "universe";
    world.link = kWorldLink;
    model_.bodies_.push_back(std::move(world));
  }

  /// Links without a parent: a declared root, or the world if it is the parent of joints.
  void add_roots() {
    if (link_index_.count(kWorldLink) == 0 && children_.count(kWorldLink) != 0) {
      add_world_joints();
      return;
    }
    for (const LinkDescription<T>& link : description_.links) {
      if (has_parent_.count(link.name) != 0) continue;
      if (base_ == Base::free) {
        JointD root;
        root.name = kRootJoint;
        root.type = JointType::free;
        root.child = link.name;
        root.source = link.source;
        add_body(root, {BodyId(0), Pose<T>()});
      } else {
        add_link(link.name, {BodyId(0), Pose<T>()});
      }
      add_pending_joints();  // before the next root: a subtree's bodies are neighbours
    }
  }

  /// The joints whose parent is the world, changed as `base_` requires.
  void add_world_joints() {
    for (const JointD* joint : children_.at(kWorldLink)) {
      JointD root = *joint;
      if (base_ == Base::free && root.type == JointType::fixed) {
        root.type = JointType::free;
        root.name = kRootJoint;
      } else if (base_ == Base::free && root.type != JointType::free) {
        const std::string where = root.source.text();
        throw Error("build_model: " + (where.empty() ? "" : where + ": ") + "joint '" + root.name +
                    "' connects directly to the world, so there is no base link to set free");
      } else if (base_ == Base::fixed && root.type == JointType::free) {
        root.type = JointType::fixed;
      }
      attach(root, {BodyId(0), Pose<T>()});
      add_pending_joints();
    }
  }

  /// Depth first: a link's joints are pushed in reverse, so that they come out in file order.
  void add_pending_joints() {
    while (!pending_joints_.empty()) {
      const JointD* joint = pending_joints_.back();
      pending_joints_.pop_back();
      attach(*joint, placements_.at(joint->parent));
    }
  }

  void attach(const JointD& joint, const LinkPlacement& parent) {
    if (joint.type == JointType::fixed) {
      add_link(joint.child, {parent.body, parent.X_BL * joint.X_PJ * joint.X_JC});
    } else {
      add_body(joint, parent);
    }
  }

  void add_body(const JointD& d, const LinkPlacement& parent) {
    Body<T> body;
    body.name = d.name;
    body.link = d.child;
    body.parent = parent.body;
    body.joint = Joint<T>::make(d.type, d.axis, d.axis2, d.pitch);
    body.X_PJ = parent.X_BL * d.X_PJ;
    body.q_start = model_.nq_;
    body.v_start = model_.nv_;
    body.limits = d.limits;
    body.limits.resize(static_cast<std::size_t>(body.joint.nv()));
    body.damping = d.damping;
    body.friction = d.friction;
    body.armature = d.armature;
    body.source = d.source;
    model_.nq_ += body.joint.nq();
    model_.nv_ += body.joint.nv();
    const BodyId id(model_.body_count());
    model_.body_by_name_.emplace(d.name, id.value());
    model_.bodies_.push_back(std::move(body));
    add_link(d.child, {id, d.X_JC});
  }

  /// Adds a link's frame and inertia to its body, and its child joints to the pending ones.
  void add_link(const std::string& name, const LinkPlacement& placement) {
    placements_[name] = placement;
    model_.frame_by_name_.emplace(name, static_cast<int>(model_.frames_.size()));
    model_.frames_.push_back({name, Frame<T>::Kind::link, placement.body, placement.X_BL});
    const auto index = link_index_.find(name);
    if (index != link_index_.end() && placement.body.value() > 0) {
      const auto& inertial = description_.links[static_cast<std::size_t>(index->second)].inertial;
      Inertia<T>& sum = model_.bodies_[static_cast<std::size_t>(placement.body.value())].inertia;
      if (inertial) sum = sum + inertial->inertia().transformed(placement.X_BL);
    }
    const auto joints = children_.find(name);
    if (joints == children_.end()) return;
    pending_joints_.insert(pending_joints_.end(), joints->second.rbegin(), joints->second.rend());
  }

  LinkPlacement placement_of(const std::string& link) const {
    const auto found = placements_.find(link);
    return found == placements_.end() ? LinkPlacement{BodyId(0), Pose<T>()} : found->second;
  }

  /// A polynomial between two joints that move. Of a joint that does not move remains the offset.
  bool is_constraint(const CouplingDescription<T>& d) const {
    return d.is_polynomial() && model_.body_by_name_.count(d.joint) != 0 &&
           model_.body_by_name_.count(d.terms.front().joint) != 0;
  }

  void add_sites_and_loops() {
    for (const FrameDescription<T>& d : description_.frames) {
      const LinkPlacement placement = placement_of(d.link);
      model_.frame_by_name_.emplace(d.name, static_cast<int>(model_.frames_.size()));
      model_.frames_.push_back(
          {d.name, Frame<T>::Kind::site, placement.body, placement.X_BL * d.X_LF});
    }
    for (const LoopDescription<T>& d : description_.loops) {
      const LinkPlacement a = placement_of(d.link_a), b = placement_of(d.link_b);
      const bool weld = d.kind == LoopDescription<T>::Kind::weld;
      model_.loops_.push_back({d.name, weld ? LoopKind::weld : LoopKind::connect, a.body, b.body,
                               a.X_BL * d.X_AL, b.X_BL * d.X_BL});
    }
    for (const CouplingDescription<T>& d : description_.couplings) {
      if (!is_constraint(d)) continue;
      const auto body = [&](const std::string& joint) {
        return BodyId(model_.body_by_name_.at(joint));
      };
      model_.loops_.push_back({d.joint,
                               LoopKind::polynomial,
                               body(d.terms.front().joint),
                               body(d.joint),
                               {},
                               {},
                               d.polynomial()});
    }
  }

  void build_coupling();
  void mark_actuated();

  const Description<T>& description_;
  Base base_;
  Model<T> model_;
  std::unordered_map<std::string, int> link_index_;
  std::unordered_map<std::string, std::vector<const JointD*>> children_;
  std::unordered_set<std::string> has_parent_;
  std::unordered_map<std::string, LinkPlacement> placements_;
  std::vector<const JointD*> pending_joints_;
};

/// A coupled joint has no independent coordinate; all others have theirs, in the order of the
/// joints. Chains of couplings are followed to their end; check_structure rejects cycles.
template <typename T>
void ModelBuilder<T>::build_coupling() {
  using Row = typename Coupling<T>::Row;
  std::unordered_map<std::string, const CouplingDescription<T>*> coupled;
  for (const auto& d : description_.couplings) {
    // The follower may be a fixed joint, or welded with the base: it is then not coupled.
    if (model_.body_by_name_.count(d.joint) != 0 && !is_constraint(d)) coupled[d.joint] = &d;
  }
  int ny_q = 0, ny_v = 0;
  std::vector<int> yq_of_v;
  std::unordered_map<std::string, int> first_velocity;  // joint -> independent index
  for (std::size_t i = 1; i < model_.bodies_.size(); ++i) {
    const Body<T>& body = model_.bodies_[i];
    if (coupled.count(body.name) != 0) continue;
    first_velocity[body.name] = ny_v;
    for (int k = 0; k < body.joint.nv(); ++k) yq_of_v.push_back(ny_q + k);
    ny_q += body.joint.nq();
    ny_v += body.joint.nv();
  }
  std::vector<Row> rows;
  for (std::size_t i = 1; i < model_.bodies_.size(); ++i) {
    const Body<T>& body = model_.bodies_[i];
    Row row{body.q_start, body.v_start, body.joint.nq(), body.joint.nv(), -1, {}, T(0)};
    if (coupled.count(body.name) == 0) {
      const int y = first_velocity.at(body.name);
      for (int k = 0; k < row.nv; ++k) row.terms.push_back({y + k, T(1)});
      row.yq = yq_of_v[static_cast<std::size_t>(y)];
      rows.push_back(std::move(row));
      continue;
    }
    // Replace each leader that is itself coupled by its terms.
    std::vector<std::pair<std::string, T>> pending = {{body.name, T(1)}};
    while (!pending.empty()) {
      const auto [joint, ratio] = pending.back();
      pending.pop_back();
      const auto found = coupled.find(joint);
      if (found == coupled.end()) {
        const auto leader = first_velocity.find(joint);  // absent if welded: its coordinate is 0
        if (leader != first_velocity.end()) row.terms.push_back({leader->second, ratio});
        continue;
      }
      row.offset = row.offset + ratio * found->second->offset;
      const auto& terms = found->second->terms;
      for (auto term = terms.rbegin(); term != terms.rend(); ++term) {
        pending.emplace_back(term->joint, ratio * term->ratio);
      }
    }
    rows.push_back(std::move(row));
  }
  model_.coupling_ =
      Coupling<T>(std::move(rows), model_.nq_, model_.nv_, ny_q, ny_v, std::move(yq_of_v));
}

template <typename T>
void ModelBuilder<T>::mark_actuated() {
  model_.actuated_.assign(static_cast<std::size_t>(model_.nv_), description_.actuators.empty());
  const auto mark = [&](const Body<T>& body, bool driven) {
    for (int k = 0; k < body.joint.nv(); ++k) {
      model_.actuated_[static_cast<std::size_t>(body.v_start + k)] = driven;
    }
  };
  for (const Body<T>& body : model_.bodies_) {
    if (body.joint.type() == JointType::free) mark(body, false);
  }
  for (const ActuationDescription& d : description_.actuators) {
    const auto found = model_.body_by_name_.find(d.joint);
    if (found != model_.body_by_name_.end()) {
      mark(model_.bodies_[static_cast<std::size_t>(found->second)], true);
    }
  }
}

template <typename T>
Model<T> build_model(const Description<T>& description, Base base) {
  return ModelBuilder<T>(description, base).build();
}

}  // namespace limb
