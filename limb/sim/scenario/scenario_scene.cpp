#include "limb/sim/scenario/scenario_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

namespace limb {
namespace {

constexpr double kNoContact = std::numeric_limits<double>::quiet_NaN();

void set_state(const StateDescription& state, Scenario& s) {
  const RobotState<double> neutral = make_state(s.model);
  s.q = neutral.q;
  s.v = neutral.v;
  std::unordered_map<std::string, const StateDescription::JointState*> joints;
  for (const auto& joint : state.joints) joints[joint.joint] = &joint;
  const auto& rows = s.model.coupling().rows();
  for (const Body<double>& body : s.model.bodies()) {
    const auto found = joints.find(body.name);
    // A base that is fixed by request has no joint; followers of couplings have no coordinates.
    if (found == joints.end() || body.joint.nv() == 0) continue;
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) {
      return r.v == body.v_start && r.nv == body.joint.nv();
    });
    if (row == rows.end() || row->yq < 0) continue;
    const auto& [name, q, v] = *found->second;
    if (static_cast<int>(q.size()) != row->nq) continue;
    for (int i = 0; i < row->nq; ++i) s.q[row->yq + i] = q[static_cast<std::size_t>(i)];
    for (int i = 0; i < static_cast<int>(v.size()); ++i) {
      s.v[row->terms[static_cast<std::size_t>(i)].y] = v[static_cast<std::size_t>(i)];
    }
  }
}

bool has_joint(const Scenario& s, const std::string& joint) {
  const auto& bodies = s.model.bodies();
  return std::any_of(bodies.begin(), bodies.end(), [&](const Body<double>& body) {
    return body.name == joint && body.joint.nv() == 1;
  });
}

/// In the initial state of the file, for which damping ratios are meant.
void add_springs(Scenario& s) {
  for (const auto& joint : s.description.joints) {
    if (joint.stiffness == 0 || !has_joint(s, joint.name)) continue;
    s.springs.push_back({joint.name, {joint.stiffness, joint.spring_rest, 0}});
  }
  for (const TendonDescription& tendon : s.description.tendons) {
    const bool known = std::all_of(tendon.terms.begin(), tendon.terms.end(),
                                   [&](const auto& term) { return has_joint(s, term.joint); });
    if (!known || tendon.terms.empty()) continue;
    if (tendon.stiffness != 0 || tendon.damping != 0 || tendon.lower || tendon.upper) {
      s.tendons.push_back({tendon.terms, tendon.stiffness, tendon.damping, tendon.rest_min,
                           tendon.rest_max, tendon.lower, tendon.upper, std::nullopt});
    }
    for (const auto& motor : tendon.motors) {
      TendonLaw::Item item;
      item.terms = tendon.terms;
      item.motor = {motor.gear, motor.servo, 0};
      s.servos.push_back({TendonLaw::with_damping(s.model, s.q, std::move(item)), motor.control});
    }
  }
  for (const ActuationDescription& actuator : s.description.actuators) {
    if (!has_joint(s, actuator.joint)) continue;
    TendonLaw::Item item;
    item.terms = {{actuator.joint, 1}};
    item.motor = {actuator.gear, actuator.servo, 0};
    s.servos.push_back({TendonLaw::with_damping(s.model, s.q, std::move(item)), actuator.control});
  }
  for (const auto& link : s.description.links) {
    if (link.gravity_compensation == 0 || !link.inertial) continue;
    s.held.push_back({s.model.find_frame(link.name),
                      link.gravity_compensation * link.inertial->mass, link.inertial->X_LI.p});
  }
}

/// Builds the contact of a scene: the fixed shapes as ground, and which shapes can touch.
class SceneContact {
 public:
  explicit SceneContact(Scenario& scenario) : s_(scenario) {}

  void build() {
    for (const Geometry& shape : s_.description.scene.fixed) add_fixed(shape, {}, kWorldLink);
    for (const HeightFieldDescription& field : s_.description.scene.height_fields) add_field(field);
    for (const auto& link : s_.description.links) {
      const Frame<double>& frame = s_.model.frame(s_.model.find_frame(link.name));
      for (const Geometry& shape : link.geometry) {
        if (frame.body.value() == 0) {
          add_fixed(shape, frame.X_BF, link.name);
        } else {
          add_moving(shape, frame, link.name);
        }
      }
    }
    for (const auto& [what, count] : left_out_) {
      s_.remarks.push_back(fmt::format("contact: {} {}{} not used ({})", count, what.first,
                                       count == 1 ? " is" : "s are", what.second));
    }
    if (shapes_.empty()) return;
    constexpr std::size_t kMostShapes = 4000;  // the friction of each pair takes 8 bytes
    if (shapes_.size() > kMostShapes) {
      throw Error(fmt::format(
          "scene: {} shapes can touch each other or the ground, expected at most {} (exclude some "
          "from contact: contype=\"0\" conaffinity=\"0\")",
          shapes_.size(), kMostShapes));
    }
    set_friction();
    if (mesh_pairs_) s_.remarks.push_back("contact: meshes do not touch each other");
    if (!touches_) return;
    setup_.parameters.self_contact = true;
    setup_.configuration.assign(s_.q.begin(), s_.q.end());
    s_.contact = std::move(setup_);
  }

 private:
  struct Entry {
    const Geometry* shape;
    std::string link;
    BodyId body;
  };

  bool named_in_pair(const Geometry& shape) const {
    const auto& pairs = s_.description.scene.pairs;
    return !shape.name.empty() && std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
      return pair.first == shape.name || pair.second == shape.name;
    });
  }
  /// Files without contact, such as URDF, give no friction.
  bool collides(const Geometry& shape) const {
    if (!shape.friction) return false;
    return shape.contact_type != 0 || shape.contact_affinity != 0 || named_in_pair(shape);
  }

  void add_fixed(const Geometry& shape, const Pose<double>& X_WL, const std::string& link) {
    if (!collides(shape)) return;
    const Pose<double> X = X_WL * shape.X_LG;
    const ContactSurface surface{*shape.friction, 0};
    if (shape.shape == Geometry::Shape::plane) {
      setup_.ground.add_half_space(X.R.col(2), X.R.col(2).dot(X.p), surface);
      planes_.push_back({&shape, link, {}});
    } else if (shape.shape == Geometry::Shape::box && link == kWorldLink) {
      setup_.ground.add_box(X, shape.size, surface);
      boxes_.push_back({&shape, link, {}});
    } else {
      add_shape(shape, X, BodyId(0), link, "fixed mesh shape");
    }
  }

  void add_field(const HeightFieldDescription& field) {
    if (!collides(field.geometry)) return;
    const Vector3<double>& p = field.geometry.X_LG.p;
    const Vector2<double> cells(double(field.heights.rows() - 1), double(field.heights.cols() - 1));
    setup_.ground.add_height_field(p.head<2>() - field.half, 2 * field.half.cwiseQuotient(cells),
                                   (field.heights.array() + p[2]).matrix(),
                                   {*field.geometry.friction, 0});
    fields_.push_back({&field.geometry, kWorldLink, {}});
  }

  void add_moving(const Geometry& shape, const Frame<double>& frame, const std::string& link) {
    if (collides(shape)) {
      add_shape(shape, frame.X_BF * shape.X_LG, frame.body, link, "mesh shape");
    }
  }

  void add_shape(const Geometry& shape, const Pose<double>& X, BodyId body, const std::string& link,
                 const char* mesh) {
    std::string why;
    auto solid = contact_shape(shape, X, hulls_, &why);
    if (!solid) {
      ++left_out_[{mesh, why}];
      return;
    }
    solid->name = link;
    solid->body = body;
    solid->surface = {*shape.friction, 0};
    solid->own_surface = true;
    setup_.shapes.push_back(std::move(*solid));
    shapes_.push_back({&shape, link, body});
  }

  /// By the masks of the shapes, the excluded links and the pairs of the file; friction kNoContact:
  /// they do not touch.
  ContactSurface surface(const Entry& a, const Entry& b) const {
    const SceneDescription& scene = s_.description.scene;
    for (const auto& pair : scene.pairs) {
      const bool same = (pair.first == a.shape->name && pair.second == b.shape->name) ||
                        (pair.second == a.shape->name && pair.first == b.shape->name);
      if (same && !a.shape->name.empty()) return {pair.friction, 0, pair.torsion, pair.rolling};
    }
    const bool masks = (a.shape->contact_type & b.shape->contact_affinity) != 0 ||
                       (b.shape->contact_type & a.shape->contact_affinity) != 0;
    const bool excluded =
        std::any_of(scene.excluded.begin(), scene.excluded.end(), [&](const auto& pair) {
          return (pair.first == a.link && pair.second == b.link) ||
                 (pair.second == a.link && pair.first == b.link);
        });
    if (!masks || excluded) return {kNoContact, 0};
    return combined(*a.shape, *b.shape);
  }
  static ContactSurface combined(const Geometry& a, const Geometry& b) {
    const auto larger = [&](const auto& of) {
      if (a.priority != b.priority) return of(a.priority > b.priority ? a : b);
      return std::max(of(a), of(b));
    };
    const int dimension = larger([](const Geometry& g) { return g.contact_dimension; });
    const double friction = larger([](const Geometry&g) { return *g.friction; }),
                 torsion = larger([](const Geometry&g) { return g.torsion; }),
                 rolling = larger([](const Geometry&g) { return g.rolling; });
    return {dimension > 1 ? friction : 0, 0, dimension > 3 ? torsion : 0,
            dimension > 4 ? rolling : 0};
  }

  void set_friction() {
    std::vector<Entry> ground = planes_;  // in the order of Ground
    ground.insert(ground.end(), boxes_.begin(), boxes_.end());
    ground.insert(ground.end(), fields_.begin(), fields_.end());
    const auto solids = ground.size();
    const auto n = shapes_.size();
    const auto table = [&](double value) {
      return std::vector<std::vector<double>>(n, std::vector<double>(solids + n, value));
    };
    setup_.friction = table(kNoContact);
    const auto set = [&](std::vector<std::vector<double>>& all, std::size_t i, std::size_t k,
                         double value) {
      if (all.empty() && value == 0) return;  // torsion and rolling are rare
      if (all.empty()) all = table(0);
      all[i][k] = value;
      if (k >= solids) all[k - solids][solids + i] = value;
    };
    for (std::size_t i = 0; i < n; ++i) {
      if (shapes_[i].body.value() == 0) continue;
      for (std::size_t k = 0; k < solids + n; ++k) {
        const Entry& other = k < solids ? ground[k] : shapes_[k - solids];
        if (k >= solids && other.body == shapes_[i].body) continue;
        const ContactSurface both = surface(shapes_[i], other);
        set(setup_.friction, i, k, both.friction);
        set(setup_.torsion, i, k, both.torsion);
        set(setup_.rolling, i, k, both.rolling);
        const bool touch = !std::isnan(both.friction);
        touches_ = touches_ || touch;
        mesh_pairs_ = mesh_pairs_ ||
                      (k >= solids && touch && shapes_[i].shape->shape == Geometry::Shape::mesh &&
                       other.shape->shape == Geometry::Shape::mesh);
      }
    }
  }

  Scenario& s_;
  ContactSetup setup_;
  std::vector<Entry> planes_, boxes_, fields_, shapes_;
  HullLibrary hulls_;
  std::map<std::pair<std::string, std::string>, int> left_out_;  ///< what and why
  bool touches_ = false;
  bool mesh_pairs_ = false;  ///< two meshes could touch
};

void set_controls(const std::vector<double>& control, Scenario& s) {
  for (ServoSetup& servo : s.servos) {
    servo.item.motor->control = servo.control < control.size() ? control[servo.control] : 0;
  }
}

}  // namespace

void apply_scene(Scenario& s) {
  const SceneDescription& scene = s.description.scene;
  set_state(scene.initial, s);
  if (scene.step) s.simulation.step = *scene.step;
  s.medium = scene.medium;
  add_springs(s);
  SceneContact(s).build();
}

void set_keyframe(const std::string& call, const std::string& name, Scenario& s) {
  const auto& keyframes = s.description.scene.keyframes;
  const auto found = std::find_if(keyframes.begin(), keyframes.end(),
                                  [&](const auto& key) { return key.name == name; });
  if (found == keyframes.end()) {
    std::vector<std::string> names;
    for (const auto& key : keyframes) names.push_back(fmt::format("'{}'", key.name));
    fail(call, "keyframe", fmt::format("'{}'", name),
         names.empty() ? "none: the model file has no keyframes"
                       : fmt::format("one of {}", fmt::join(names, ", ")));
  }
  set_state(*found, s);
  set_controls(found->control, s);
  if (s.contact) s.contact->configuration.assign(s.q.begin(), s.q.end());
}

}  // namespace limb
