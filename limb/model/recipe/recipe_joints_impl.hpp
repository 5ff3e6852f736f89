#pragma once

#include "limb/model/recipe/recipe_links_impl.hpp"

/// Joints of a recipe in its four forms.
namespace limb {

/// Keys of joints in all forms.
inline const RecipeFields::Keys kJointKeys = {"name",    "type",     "parent",   "limits",
                                              "damping", "friction", "armature", "rotor"};

template <typename T>
class RecipeJoints : public RecipeLinks<T> {
 public:
  using Base = RecipeLinks<T>;
  using Base::Base;

  /// Rows of [[standard_dh]] or [[modified_dh]]: each is a joint and its child link.
  ///
  ///   standard: X_PC = Rz(theta) Tz(d) Tx(a) Rx(alpha), the joint moves about or along z of P
  ///   modified: X_PC = Rx(alpha) Tx(a) Rz(theta) Tz(d), the joint moves about or along z of C
  ///
  /// with theta + q for a revolute and d + q for a prismatic joint.
  void read_dh(const std::vector<const TomlValue*>& rows, bool modified, const Pose<T>& base,
               Description<T>& out) {
    static const RecipeFields::Keys kKeys =
        join_keys({kJointKeys, kInertialKeys, {"link", "theta", "d", "a", "alpha"}});
    for (const TomlValue* row : rows) {
      auto [joint, owner] = chain_joint(*row, modified ? "modified_dh" : "standard_dh", kKeys,
                                        {"revolute", "continuous", "prismatic", "fixed"}, out);
      const T theta = this->number_or(*row, owner, "theta", Unit::angle, T(0));
      const T d = this->number_or(*row, owner, "d", Unit::length, T(0));
      const T a = this->number_or(*row, owner, "a", Unit::length, T(0));
      const T alpha = this->number_or(*row, owner, "alpha", Unit::angle, T(0));
      const T none(0);
      const Pose<T> along_z{this->rotation_about(2, theta, owner), Vector3<T>(none, none, d)};
      const Pose<T> along_x{this->rotation_about(0, alpha, owner), Vector3<T>(a, none, none)};
      joint.axis = Vector3<T>::UnitZ();
      if (modified) {
        joint.X_PJ = along_x * along_z;
      } else {
        joint.X_PJ = along_z;
        joint.X_JC = along_x;
      }
      if (joint.parent == kWorldLink) joint.X_PJ = base * joint.X_PJ;
      add(*row, owner, std::move(joint), out);
    }
  }

  /// Rows of [[screw]]: axes and link frames in the home configuration (q = 0), in the space frame.
  void read_screws(const std::vector<const TomlValue*>& rows, const Pose<T>& base,
                   Description<T>& out) {
    static const RecipeFields::Keys kKeys =
        join_keys({kJointKeys, kInertialKeys, {"link", "w", "q", "v", "home"}});
    std::unordered_map<std::string, Pose<T>> home;
    home[kWorldLink] = base.inverse();
    for (const TomlValue* row : rows) {
      auto [joint, owner] = chain_joint(
          *row, "screw", kKeys, {"revolute", "continuous", "prismatic", "helical", "fixed"}, out);
      Pose<T> X_SJ;  // axes of the space frame, origin on the screw axis
      read_axis(*row, owner, joint, X_SJ.p);
      const bool has_home = row->find("home") != nullptr;
      const Pose<T> X_SC = has_home ? this->placement_at(*row, owner, "home") : X_SJ;
      if (joint.type == JointType::prismatic || joint.type == JointType::fixed) X_SJ.p = X_SC.p;
      const auto parent = home.find(joint.parent);
      if (parent == home.end()) {
        this->error(*row, "recipe-bad-value",
                    fmt::format("{}: parent '{}' is not the link of a row above", owner,
                                joint.parent.substr(0, 60)));
      } else {
        joint.X_PJ = parent->second.inverse() * X_SJ;
      }
      joint.X_JC = X_SJ.inverse() * X_SC;
      home[joint.child] = X_SC;
      add(*row, owner, std::move(joint), out);
    }
  }

  /// [[joint]] with its own placement in the parent link.
  void read_explicit(const TomlValue& document, Description<T>& out) {
    static const RecipeFields::Keys kLinkKeys = join_keys({kInertialKeys, {"name"}});
    for (const TomlValue* row : this->rows(document, "link")) {
      const std::string name = this->required_text(*row, "[[link]]", "name");
      const std::string owner = fmt::format("link '{}'", name.substr(0, 60));
      this->expect_keys(*row, owner, kLinkKeys);
      out.links.push_back(this->link(*row, owner, name));
    }
    static const RecipeFields::Keys kKeys = join_keys(
        {kJointKeys, kPlacementKeys, {"child", "axis", "axis2", "pitch", "child_placement"}});
    RecipeFields::Keys types;
    for (const JointType type : kJointTypes) types.emplace_back(to_text(type));
    for (const TomlValue* row : this->rows(document, "joint")) {
      JointDescription<T> joint;
      joint.name = this->required_text(*row, "[[joint]]", "name");
      const std::string owner = fmt::format("joint '{}'", joint.name.substr(0, 60));
      this->expect_keys(*row, owner, kKeys);
      joint.type = *joint_type_from_text(this->choice(*row, owner, "type", types));
      joint.parent = this->required_text(*row, owner, "parent");
      joint.child = this->required_text(*row, owner, "child");
      joint.X_PJ = this->placement(*row, owner);
      joint.X_JC = this->placement_at(*row, owner, "child_placement");
      read_explicit_axes(*row, owner, joint);
      drive(*row, owner, joint);
      joint.source = this->source(*row);
      out.joints.push_back(std::move(joint));
    }
  }

 private:
  using Unit = RecipeUnit;

  /// Name, type, parent, child and drive of row i; default names joint1, link1, ... and the link
  /// of the row above as parent.
  std::pair<JointDescription<T>, std::string> chain_joint(const TomlValue& row,
                                                          std::string_view form,
                                                          const RecipeFields::Keys& keys,
                                                          const RecipeFields::Keys& types,
                                                          const Description<T>& out) {
    const std::size_t i = out.joints.size() + 1;
    const std::string owner = fmt::format("[[{}]] row {}", form, i);
    this->expect_keys(row, owner, keys);
    JointDescription<T> joint;
    joint.name = this->text(row, owner, "name").value_or(fmt::format("joint{}", i));
    joint.type = *joint_type_from_text(this->choice(row, owner, "type", types));
    joint.parent = this->text(row, owner, "parent")
                       .value_or(out.joints.empty() ? kWorldLink : out.joints.back().child);
    joint.child = this->text(row, owner, "link").value_or(fmt::format("link{}", i));
    joint.source = this->source(row);
    drive(row, owner, joint);
    return {std::move(joint), owner};
  }

  void add(const TomlValue& row, const std::string& owner, JointDescription<T> joint,
           Description<T>& out) {
    out.links.push_back(this->link(row, owner, joint.child));
    out.joints.push_back(std::move(joint));
  }

  /// Direction, point and pitch of a screw from w with q or v, or from v only.
  void read_axis(const TomlValue& row, const std::string& owner, JointDescription<T>& joint,
                 Vector3<T>& point) {
    if (joint.type == JointType::fixed) return;
    if (joint.type == JointType::prismatic) {
      for (const char* key : {"w", "q"}) {
        if (const TomlValue* value = row.find(key)) {
          this->error(*value, "recipe-bad-value",
                      fmt::format("{}: a prismatic joint has no {}, expected v only", owner, key));
        }
      }
      joint.axis = this->unit_vector(row, owner, "v", this->required_vector(row, owner, "v"));
      return;
    }
    const Vector3<T> w = this->unit_vector(row, owner, "w", this->required_vector(row, owner, "w"));
    joint.axis = w;
    const bool has_q = row.find("q") != nullptr, has_v = row.find("v") != nullptr;
    const bool helical = joint.type == JointType::helical;
    if (has_q == has_v) {
      this->error(row, "recipe-missing-key",
                  fmt::format("{}: has {}, expected one of q (a point on the axis), v = -w x q",
                              owner, has_q ? "both q and v" : "neither q nor v"));
      return;
    }
    if (has_q) {
      if (helical) {
        this->error(row, "recipe-missing-key",
                    fmt::format("{}: a helical joint needs v = -w x q + pitch w", owner));
      }
      point = *this->vector(row, owner, "q", Unit::length);
      return;
    }
    const Vector3<T> v = *this->vector(row, owner, "v", Unit::length);
    point = w.cross(v);
    const T pitch = w.dot(v);
    if (helical) {
      joint.pitch = pitch;
    } else if constexpr (Real<T>) {
      if (std::abs(pitch) > T(1e-9) * (T(1) + v.norm())) {
        this->error(row, "recipe-bad-value",
                    fmt::format("{}: w.v is {}, expected 0 for a {} joint", owner, double(pitch),
                                to_text(joint.type)),
                    "a screw with pitch translates along its axis", "type = \"helical\"");
      }
    }
  }

  void read_explicit_axes(const TomlValue& row, const std::string& owner,
                          JointDescription<T>& joint) {
    using enum JointType;
    const JointType t = joint.type;
    const bool has_axis = t == revolute || t == continuous || t == prismatic || t == helical ||
                          t == cylindrical || t == universal || t == planar;
    const auto optional_axis = [&](const char* key, bool used, Vector3<T>& axis) {
      const TomlValue* value = row.find(key);
      if (used) {
        axis = this->required_vector(row, owner, key);
      } else if (value != nullptr) {
        this->error(*value, "recipe-bad-value",
                    fmt::format("{}: a {} joint has no {}", owner, to_text(t), key));
      }
    };
    optional_axis("axis", has_axis, joint.axis);
    optional_axis("axis2", t == universal, joint.axis2);
    if (t == helical) {
      joint.pitch = this->required_number(row, owner, "pitch", Unit::length);
    } else if (const TomlValue* value = row.find("pitch")) {
      this->error(*value, "recipe-bad-value",
                  fmt::format("{}: a {} joint has no pitch", owner, to_text(t)));
    }
  }

  /// Limits, damping, friction and armature.
  void drive(const TomlValue& row, const std::string& owner, JointDescription<T>& joint) {
    joint.damping = this->number_or(row, owner, "damping", Unit::none, T(0));
    joint.friction = this->number_or(row, owner, "friction", Unit::none, T(0));
    joint.armature = this->number_or(row, owner, "armature", Unit::none, T(0));
    if (const TomlValue* rotor = row.find("rotor");
        rotor != nullptr && this->expect_table(*rotor, owner, "rotor")) {
      const std::string inner = fmt::format("{}: rotor", owner);
      this->expect_keys(*rotor, inner, {"inertia", "gear_ratio"});
      const T ratio = this->number_or(*rotor, inner, "gear_ratio", Unit::none, T(1));
      joint.armature = this->required_number(*rotor, inner, "inertia") * ratio * ratio;
      if (row.find("armature") != nullptr) {
        this->error(*rotor, "recipe-bad-value",
                    fmt::format("{}: both armature and rotor, expected one", owner));
      }
    }
    if (const TomlValue* limits = row.find("limits")) read_limits(*limits, owner, joint);
  }

  void read_limits(const TomlValue& value, const std::string& owner, JointDescription<T>& joint) {
    const int nv = joint_nv(joint.type);
    if (value.kind == TomlValue::Kind::table && nv == 1) {
      joint.limits.push_back(dof_limits(value, owner + ": limits", dof_unit(joint.type, 0)));
      return;
    }
    if (value.kind != TomlValue::Kind::array ||
        value.items.size() != static_cast<std::size_t>(nv)) {
      this->wrong_type(value, owner, "limits",
                       nv == 1
                           ? "a table {lower, upper, velocity, effort}"
                           : fmt::format("an array of {} tables, one per degree of freedom", nv));
      return;
    }
    for (int i = 0; i < nv; ++i) {
      const TomlValue& item = value.items[static_cast<std::size_t>(i)];
      const std::string key = fmt::format("limits[{}]", i);
      if (!this->expect_table(item, owner, key)) return joint.limits.clear();
      joint.limits.push_back(dof_limits(item, owner + ": " + key, dof_unit(joint.type, i)));
    }
  }

  DofLimits<T> dof_limits(const TomlValue& table, const std::string& owner, Unit unit) {
    this->expect_keys(table, owner, {"lower", "upper", "velocity", "effort"});
    DofLimits<T> limits;
    limits.lower = this->optional_number(table, owner, "lower", unit);
    limits.upper = this->optional_number(table, owner, "upper", unit);
    limits.velocity = this->optional_number(table, owner, "velocity", unit);
    limits.effort = this->optional_number(table, owner, "effort", Unit::none);
    return limits;
  }
};

}  // namespace limb
