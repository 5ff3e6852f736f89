#include "cli/derive_json.hpp"

#include "cli/interrupt.hpp"
#include "cli/robot_options.hpp"

namespace limb::cli {
namespace {

using Json = nlohmann::json;
using symbolic::Matrix;
using symbolic::Polynomial;
using symbolic::Quantity;

/// Large closed forms take seconds to write, so each entry can be interrupted.
std::string text(const Polynomial& x) {
  Interrupt::check("limb derive", "while writing the closed form");
  return to_text(x);
}

Json entries(const Matrix& m) {
  Json rows = Json::array();
  for (Eigen::Index i = 0; i < m.rows(); ++i) {
    Json row = Json::array();
    for (Eigen::Index j = 0; j < m.cols(); ++j) row.push_back(text(m(i, j)));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json list(const Matrix& v) {
  Json result = Json::array();
  for (const Polynomial& x : v.reshaped()) result.push_back(text(x));
  return result;
}

Json christoffel(const symbolic::ClosedForm& f) {
  Json result = Json::array();
  const int n = f.gamma.size();
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int k = j; k < n; ++k) {
        if (f.gamma(i, j, k).is_zero()) continue;
        result.push_back({{"ijk", {i + 1, j + 1, k + 1}}, {"value", text(f.gamma(i, j, k))}});
      }
    }
  }
  return result;
}

Json symbols(const symbolic::Ring& ring) {
  static constexpr const char* kKinds[] = {"parameter", "coordinate", "velocity", "acceleration",
                                           "number"};
  Json result = Json::array();
  for (const symbolic::Symbol& s : ring.symbols()) {
    result.push_back({{"name", s.name},
                      {"kind", kKinds[static_cast<int>(s.kind)]},
                      {"value", to_json(s.value)}});
  }
  return result;
}

}  // namespace

Json derivation_json(const symbolic::Derivation& d) {
  const auto has = [&](Quantity q) { return d.quantities.count(q) != 0; };
  const symbolic::ClosedForm& f = d.form;
  static constexpr const char* kMethods[] = {"lagrange", "newton_euler", "both", "modern_robotics",
                                             "all"};
  Json result = {{"robot", d.robot.model.name()},
                 {"method", kMethods[static_cast<int>(d.method)]},
                 {"symbols", symbols(*d.robot.ring)},
                 {"notes", d.robot.notes},
                 {"terms", term_count(d)},
                 {"peak_bytes", d.robot.ring->peak_bytes()}};
  if (d.method == symbolic::DerivationMethod::both || d.method == symbolic::DerivationMethod::all)
    result["equal"] = true;  // derive() throws if they differ
  Json joints = Json::array();
  for (const auto& c : d.robot.coordinates) {
    joints.push_back({{"joint", c.joint},
                      {"q", d.robot.ring->symbol(c.q).name},
                      {"kind", c.is_angle ? "angle" : "length"},
                      {"actuated", c.actuated}});
  }
  result["coordinates"] = joints;
  if (has(Quantity::M)) result["M"] = entries(f.M);
  if (has(Quantity::C)) result["C"] = entries(f.C);
  if (has(Quantity::B)) {
    result["centrifugal"] = entries(f.centrifugal);
    result["coriolis"] = entries(f.coriolis);
  }
  if (has(Quantity::christoffel)) result["christoffel"] = christoffel(f);
  if (has(Quantity::V)) result["V"] = list(f.V);
  if (has(Quantity::G)) result["G"] = list(f.G);
  if (has(Quantity::K)) result["K"] = text(f.K);
  if (has(Quantity::P)) result["P"] = text(f.P);
  if (has(Quantity::tau)) {
    result["tau"] = list(f.tau);
    Json friction = Json::array();  // to be added to tau: size * sign(velocity)
    for (const symbolic::CoulombFriction& x : f.friction) {
      friction.push_back(
          {{"joint", x.joint}, {"size", list(x.size)}, {"velocity", to_text(x.velocity)}});
    }
    result["friction"] = friction;
  }
  Json frames = Json::array();
  for (std::size_t i = 0; i < d.frames.size(); ++i) {
    Json frame = {{"name", d.frames[i].name}, {"p", list(Matrix(d.frames[i].X_WF.p))}};
    if (has(Quantity::J)) frame["J"] = entries(d.frames[i].J);
    if (has(Quantity::Jdot)) frame["Jdot"] = entries(d.frames[i].Jdot);
    if (has(Quantity::Lambda)) {
      frame["Lambda"] = {{"rows", d.lambdas[i].rows},
                         {"numerator", entries(d.lambdas[i].numerator)},
                         {"denominator", text(d.lambdas[i].denominator)}};
    }
    if (has(Quantity::mu)) frame["mu"] = {{"numerator", list(d.lambdas[i].mu)}};
    if (has(Quantity::rho)) frame["rho"] = {{"numerator", list(d.lambdas[i].rho)}};
    if (has(Quantity::mu) || has(Quantity::rho)) {
      frame["denominator"] = text(d.lambdas[i].denominator);
    }
    frames.push_back(std::move(frame));
  }
  if (!d.frames.empty()) result["frames"] = frames;
  return result;
}

Json recursive_json(const symbolic::RecursiveForm& form) {
  static constexpr const char* kOps[] = {"input",    "constant", "negate", "add",
                                         "subtract", "multiply", "divide", "sin",
                                         "cos",      "sqrt",     "sign"};
  Json nodes = Json::array();
  for (std::size_t i = 0; i < form.tape.nodes().size(); ++i) {
    const symbolic::TapeNode& n = form.tape.nodes()[i];
    Json node = {{"op", kOps[static_cast<int>(n.op)]}};
    if (n.op == symbolic::TapeNode::Op::input)
      node["name"] = form.tape.names().at(static_cast<int>(i));
    if (n.op == symbolic::TapeNode::Op::constant) node["value"] = n.value;
    if (n.a >= 0) node["a"] = n.a;
    if (n.b >= 0) node["b"] = n.b;
    nodes.push_back(std::move(node));
  }
  Json outputs = Json::object();
  for (const auto& o : form.outputs) {
    outputs[o.name] = {{"rows", o.rows}, {"cols", o.cols}, {"nodes", o.nodes}};
  }
  Json parameters = Json::object();
  for (std::size_t i = 0; i < form.parameters.size(); ++i) {
    parameters[form.parameters[i]] = form.defaults[i];
  }
  return {{"robot", form.robot},        {"parameters", parameters}, {"notes", form.notes},
          {"assignments", form.size()}, {"nodes", nodes},           {"outputs", outputs}};
}

}  // namespace limb::cli
