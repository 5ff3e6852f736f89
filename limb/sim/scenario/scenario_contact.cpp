#include "limb/sim/scenario/scenario_contact.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "limb/math/euler.hpp"

namespace limb {
namespace {

using Keys = RecipeFields::Keys;
using Sign = ScenarioValues::Sign;

/// Keys of a surface.
const Keys kSurfaceKeys = {"friction", "restitution", "torsion", "rolling"};

/// All shapes of the robot collide; those that cannot are named in the remarks.
void use_all_shapes(Scenario& s) {
  std::vector<std::string> left_out;
  s.contact->shapes = shapes_of(s.description, s.model, &left_out);
  if (left_out.empty() || s.contact->shapes.empty()) return;
  const std::size_t count = left_out.size();
  // Several shapes of a link follow each other.
  left_out.erase(std::unique(left_out.begin(), left_out.end()), left_out.end());
  constexpr std::size_t kMost = 5;  // names
  const bool more = left_out.size() > kMost;
  if (more) left_out.resize(kMost);
  s.remarks.push_back(
      fmt::format("contact: {} shape{} not used (meshes that cannot be read, planes): {}{}", count,
                  count == 1 ? " is" : "s are", fmt::join(left_out, ", "), more ? ", ..." : ""));
}

class ContactReader {
 public:
  ContactReader(RecipeFields& fields, ScenarioValues& values, Scenario& scenario)
      : fields_(fields), values_(values), s_(scenario) {}

  void read(const TomlValue& document) {
    const TomlValue* ground = document.find("ground");
    const TomlValue* contact = document.find("contact");
    if (ground == nullptr && s_.contact) {  // that of the model file
      if (contact != nullptr && fields_.expect_table(*contact, "scenario", "contact")) {
        read_parameters(*contact);
      }
      if (s_.simulation.method == IntegrationMethod::semi_implicit_euler) return;
      fields_.error(document, "scenario-bad-value",
                    fmt::format("integrator is {}, expected semi-implicit-euler: the model file "
                                "has a ground (to leave it out: [ground] kind = \"none\")",
                                to_text(s_.simulation.method)));
      return;
    }
    if (ground == nullptr) {
      if (contact != nullptr) {
        fields_.error(*contact, "scenario-bad-value", "contact: [contact] needs a [ground]");
      }
      return;
    }
    if (!fields_.expect_table(*ground, "scenario", "ground")) return;
    s_.contact.emplace();
    read_ground(*ground);
    if (!s_.contact) return;  // none
    if (contact != nullptr && fields_.expect_table(*contact, "scenario", "contact")) {
      read_parameters(*contact);
    }
    if (s_.contact->shapes.empty()) use_all_shapes(s_);
    if (s_.contact->shapes.empty()) {
      fields_.error(*ground, "scenario-bad-value", "ground: the robot has no shapes for contact",
                    "planes and meshes whose file is missing are not used for contact",
                    "declare its feet: [[contact.foot]]");
    }
    if (s_.simulation.method != IntegrationMethod::semi_implicit_euler) {
      fields_.error(*ground, "scenario-bad-value",
                    fmt::format("ground: integrator is {}, expected semi-implicit-euler (contacts "
                                "are impulses of its steps)",
                                to_text(s_.simulation.method)));
    }
  }

 private:
  ContactSurface read_surface(const TomlValue& t, const std::string& owner,
                              ContactSurface surface = {}) {
    values_.set(t, owner, "friction", "", Sign::not_negative, surface.friction);
    values_.set(t, owner, "restitution", "", Sign::not_negative, surface.restitution);
    if (surface.restitution > 1) {
      fields_.error(*t.find("restitution"), "scenario-bad-value",
                    fmt::format("{}: restitution is {}, expected 0 to 1", owner,
                                to_text(surface.restitution)));
      surface.restitution = 1;
    }
    values_.set(t, owner, "torsion", "m,mm,cm", Sign::not_negative, surface.torsion);
    values_.set(t, owner, "rolling", "m,mm,cm", Sign::not_negative, surface.rolling);
    return surface;
  }

  double length(const TomlValue& t, const std::string& owner, const char* key, double value,
                Sign sign = Sign::positive) {
    values_.set(t, owner, key, "m,mm,cm", sign, value);
    return value;
  }

  /// A positive whole number.
  int count(const TomlValue& t, const std::string& owner, const char* key, int value) {
    double x = value;
    values_.set(t, owner, key, "", Sign::positive, x);
    if (x == std::floor(x) && x >= 1 && x <= 1e5) return static_cast<int>(x);
    fields_.error(*t.find(key), "scenario-bad-value",
                  fmt::format("{}: {} is {}, expected a whole number from 1 to 100000", owner, key,
                              to_text(x)));
    return value;
  }

  Vector2<double> pair(const TomlValue& t, const std::string& owner, const char* key,
                       Vector2<double> value) {
    const TomlValue* found = t.find(key);
    if (found == nullptr) return value;
    if (found->kind != TomlValue::Kind::array || found->items.size() != 2) {
      fields_.wrong_type(*found, owner, key, "an array of two numbers");
      return value;
    }
    for (int i = 0; i < 2; ++i) {
      const auto x = values_.value_of(found->items[static_cast<std::size_t>(i)], owner, key,
                                      "m,mm,cm", Sign::any);
      if (x) value[i] = *x;
    }
    return value;
  }

  void read_ground(const TomlValue& t) {
    const std::string owner = "ground";
    const Keys kinds = {"plane", "slope", "stairs", "boxes", "height_field", "none"};
    const std::string kind =
        t.find("kind") == nullptr ? kinds[0] : fields_.choice(t, owner, "kind", kinds);
    if (kind == "none") {
      fields_.expect_keys(t, owner, {"kind"});
      s_.contact.reset();
      return;
    }
    const Keys surface_keys = join_keys({{"kind"}, kSurfaceKeys});
    const ContactSurface surface = read_surface(t, owner);
    Ground& ground = s_.contact->ground;
    if (kind == "plane") {
      fields_.expect_keys(t, owner, join_keys({surface_keys, {"height"}}));
      ground = Ground::plane(surface, length(t, owner, "height", 0, Sign::any));
    } else if (kind == "slope") {
      fields_.expect_keys(t, owner, join_keys({surface_keys, {"angle", "direction"}}));
      double angle = 0;
      values_.set(t, owner, "angle", "rad,deg", Sign::any, angle);
      const Vector2<double> direction = pair(t, owner, "direction", {1, 0});
      if (!(std::abs(angle) < 1.57) || !(direction.norm() > 0)) {
        fields_.error(t, "scenario-bad-value",
                      fmt::format("ground: a slope of {} rad along ({}, {}), expected less than a "
                                  "right angle along some direction",
                                  to_text(angle), to_text(direction[0]), to_text(direction[1])));
        return;
      }
      ground = Ground::slope(angle, surface, direction);
    } else if (kind == "stairs") {
      fields_.expect_keys(t, owner,
                          join_keys({surface_keys, {"count", "rise", "run", "width", "begin"}}));
      Ground::Stairs stairs;
      stairs.count = count(t, owner, "count", stairs.count);
      stairs.rise = length(t, owner, "rise", stairs.rise);
      stairs.run = length(t, owner, "run", stairs.run);
      stairs.width = length(t, owner, "width", stairs.width);
      stairs.begin = length(t, owner, "begin", stairs.begin, Sign::any);
      ground = Ground::stairs(stairs, surface);
    } else if (kind == "boxes") {
      fields_.expect_keys(t, owner, join_keys({surface_keys, {"height", "box"}}));
      ground = Ground::plane(surface, length(t, owner, "height", 0, Sign::any));
      for (const TomlValue* box : fields_.rows(t, "box")) read_box(*box, surface);
    } else {
      fields_.expect_keys(
          t, owner,
          join_keys({surface_keys, {"corner", "cell", "heights", "cells", "amplitude", "seed"}}));
      read_field(t, surface);
    }
  }

  void read_box(const TomlValue& t, const ContactSurface& ground) {
    const std::string owner = "[[ground.box]]";
    fields_.expect_keys(t, owner, join_keys({{"xyz", "rpy", "size"}, kSurfaceKeys}));
    if (t.find("size") == nullptr) return fields_.missing(t, owner, "size", "three edges, m");
    const Vector3<double> size = values_.vector(t, owner, "size");
    const Vector3<double> rpy = values_.vector(t, owner, "rpy");
    if (!(size.minCoeff() > 0)) {
      fields_.error(
          *t.find("size"), "scenario-bad-value",
          fmt::format("{}: an edge is {} m, expected > 0", owner, to_text(size.minCoeff())));
      return;
    }
    s_.contact->ground.add_box(
        {rpy_to_matrix(rpy[0], rpy[1], rpy[2]), values_.vector(t, owner, "xyz")}, size,
        read_surface(t, owner, ground));
  }

  void read_field(const TomlValue& t, const ContactSurface& surface) {
    const std::string owner = "ground";
    const Vector2<double> cell = pair(t, owner, "cell", {0.1, 0.1});
    MatrixX<double> heights;
    if (const TomlValue* rows = t.find("heights")) {
      const auto bad = [&] {
        fields_.wrong_type(*rows, owner, "heights",
                           "an array of two or more arrays of the same "
                           "length, which is two or more");
      };
      if (rows->kind != TomlValue::Kind::array || rows->items.size() < 2) return bad();
      const std::size_t columns = rows->items[0].items.size();
      heights.resize(static_cast<Eigen::Index>(rows->items.size()),
                     static_cast<Eigen::Index>(columns));
      for (std::size_t i = 0; i < rows->items.size(); ++i) {
        const TomlValue& row = rows->items[i];
        if (row.kind != TomlValue::Kind::array || row.items.size() != columns || columns < 2) {
          return bad();
        }
        for (std::size_t j = 0; j < columns; ++j) {
          const auto x = values_.value_of(row.items[j], owner, "heights", "m,mm,cm", Sign::any);
          heights(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = x.value_or(0);
        }
      }
    } else {  // rough ground from a seed
      double amplitude = 0.02;
      std::uint64_t seed = 1;
      values_.set(t, owner, "amplitude", "m,mm,cm", Sign::not_negative, amplitude);
      values_.set_seed(t, owner, seed);
      Vector2<double> cells = pair(t, owner, "cells", {40, 40});
      if (!(cells.minCoeff() >= 1 && cells.maxCoeff() <= 1000) ||
          cells != cells.array().floor().matrix()) {
        fields_.error(*t.find("cells"), "scenario-bad-value",
                      "ground: cells are two whole numbers from 1 to 1000");
        cells = {1, 1};
      }
      heights.resize(static_cast<Eigen::Index>(cells[0]) + 1,
                     static_cast<Eigen::Index>(cells[1]) + 1);
      NoiseGenerator noise(seed);
      for (auto& x : heights.reshaped()) x = amplitude * std::tanh(noise.normal());
    }
    if (!(cell.minCoeff() > 0)) {
      fields_.error(*t.find("cell"), "scenario-bad-value",
                    "ground: the edges of a cell must be positive");
      return;
    }
    const Vector2<double> extent(double(heights.rows() - 1) * cell[0],
                                 double(heights.cols() - 1) * cell[1]);
    s_.contact->ground.add_height_field(pair(t, owner, "corner", -extent / 2), cell,
                                        std::move(heights), surface);
  }

  void read_parameters(const TomlValue& t) {
    const std::string owner = "contact";
    fields_.expect_keys(t, owner,
                        {"foot", "stiffness", "damping", "restitution_speed", "self_contact"});
    ContactParameters& p = s_.contact->parameters;
    values_.set(t, owner, "stiffness", "", Sign::positive, p.stiffness);
    values_.set(t, owner, "damping", "", Sign::not_negative, p.damping);
    values_.set(t, owner, "restitution_speed", "m/s", Sign::not_negative, p.restitution_speed);
    if (const TomlValue* self = t.find("self_contact")) {
      if (self->kind != TomlValue::Kind::boolean) {
        fields_.wrong_type(*self, owner, "self_contact", "true or false");
      }
      p.self_contact = self->boolean;
    }
    for (const TomlValue* row : fields_.rows(t, "foot")) {
      const std::string name = "[[contact.foot]]";
      fields_.expect_keys(*row, name, join_keys({{"frame", "radius"}, kSurfaceKeys}));
      const auto frame = values_.frame(*row, name);
      double radius = 0;
      values_.set(*row, name, "radius", "m,mm,cm", Sign::not_negative, radius);
      const bool own = std::any_of(kSurfaceKeys.begin(), kSurfaceKeys.end(),
                                   [&](const auto& key) { return row->find(key) != nullptr; });
      const ContactSurface surface = read_surface(*row, name);
      if (!frame) continue;
      if (s_.model.frame(*frame).body.value() == 0) {
        fields_.error(*row, "scenario-bad-value",
                      fmt::format("{}: '{}' does not move", name, s_.model.frame(*frame).name));
        continue;
      }
      s_.contact->shapes.push_back(make_foot(s_.model, *frame, radius));
      s_.contact->shapes.back().own_surface = own;
      s_.contact->shapes.back().surface = surface;
    }
  }

  RecipeFields& fields_;
  ScenarioValues& values_;
  Scenario& s_;
};

}  // namespace

void read_contact(const TomlValue& document, RecipeFields& fields, ScenarioValues& values,
                  Scenario& scenario) {
  ContactReader(fields, values, scenario).read(document);
}

void set_plane(const std::string& call, Scenario& s) {
  s.contact.emplace();
  s.contact->ground = Ground::plane();
  // Those about the ground of the file, which is replaced.
  std::erase_if(s.remarks,
                [](const std::string& remark) { return remark.starts_with("contact:"); });
  use_all_shapes(s);
  if (s.contact->shapes.empty()) {
    throw Error(call +
                ": the robot has no shapes that could touch the ground: declare its feet in a "
                "scenario, [[contact.foot]]");
  }
  if (s.simulation.method != IntegrationMethod::semi_implicit_euler) {
    fail(call, "integrator", to_text(s.simulation.method), "semi-implicit-euler",
         "contacts are impulses of its steps");
  }
}

ContactLog::ContactLog(const ContactSetup& setup) {
  for (const ContactShape& shape : setup.shapes) {
    const auto found = std::find(names_.begin(), names_.end(), shape.name);
    group_.push_back(static_cast<std::size_t>(found - names_.begin()));
    if (found == names_.end()) names_.push_back(shape.name);
  }
  const auto n = static_cast<Eigen::Index>(names_.size());
  forces_ = VectorX<double>::Zero(kForces * n);
  support_ = VectorX<double>::Zero(3 + 3 * n);
  normal_ = VectorX<double>::Zero(n);
  laws_ = VectorX<double>::Zero(4);
}

std::vector<LogTopic> ContactLog::topics() const {
  std::vector<LogTopic> topics = {{"contact", {}},
                                  {"support", {"pressure.x", "pressure.y", "pressure.z"}},
                                  {"laws", {"touching", "penetration", "residual", "dissipated"}}};
  for (const std::string& name : names_) {
    for (const char* part : {"fx", "fy", "fz", "normal", "tangential", "bound"}) {
      topics[0].fields.push_back(name + "." + part);
    }
    for (const char* part : {"x", "y", "z"}) topics[1].fields.push_back(name + "." + part);
  }
  topics[0].units.assign(topics[0].fields.size(), "N");
  topics[1].units.assign(topics[1].fields.size(), "m");
  topics[2].units = {"1", "m", "m/s", "J"};
  return topics;
}

void ContactLog::write(const Contacts& contacts, double t, std::size_t first, LogWriter& log) {
  forces_.setZero();
  support_.setZero();
  normal_.setZero();
  const auto add = [&](const ContactPoint& c, std::size_t group, double sign) {
    const auto g = static_cast<Eigen::Index>(group);
    const double normal = c.n_W.dot(c.force_W);
    forces_.segment<3>(kForces * g) += sign * c.force_W;
    forces_[kForces * g + 3] += normal;
    forces_[kForces * g + 4] += (c.force_W - normal * c.n_W).norm();
    forces_[kForces * g + 5] += c.friction * normal;
    support_.segment<3>(3 + 3 * g) += normal * c.p_W;
    normal_[g] += normal;
  };
  for (const ContactPoint& c : contacts.points()) {
    add(c, group_[static_cast<std::size_t>(c.shape)], 1);
    if (c.other < 0) add(c, group_[static_cast<std::size_t>(-1 - c.other)], -1);
  }
  support_.head<3>() = contacts.center_of_pressure();
  for (Eigen::Index g = 0; g < normal_.size(); ++g) {
    support_.segment<3>(3 + 3 * g) /= normal_[g];  // NaN where nothing touches
  }
  const ContactReport& report = contacts.report();
  laws_ << report.touching, report.penetration, report.residual, contacts.dissipated();
  log.write(first, t, forces_);
  log.write(first + 1, t, support_);
  log.write(first + 2, t, laws_);
}

}  // namespace limb
