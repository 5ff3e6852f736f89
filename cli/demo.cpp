#include "cli/demo.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>

#include "cli/demo_arm.hpp"
#include "cli/demo_lecture.hpp"
#include "cli/planar_2r.hpp"
#include "cli/report_page.hpp"
#include "cli/table.hpp"
#include "limb/base/version.hpp"

namespace limb::cli {
namespace {

constexpr double kRadPerDeg = std::numbers::pi / 180;

std::span<const double> numbers(const Vector3<double>& v) {
  return {v.data(), 3};
}

nlohmann::json to_json(const Eigen::MatrixXd& m) {
  nlohmann::json rows = nlohmann::json::array();
  for (Eigen::Index i = 0; i < m.rows(); ++i) {
    nlohmann::json row = nlohmann::json::array();
    for (Eigen::Index j = 0; j < m.cols(); ++j) row.push_back(m(i, j));
    if (m.cols() == 1)
      rows.push_back(row[0]);
    else
      rows.push_back(row);
  }
  return rows;
}

nlohmann::json to_json(const Pose<double>& X) {
  return {{"R", to_json(X.R)}, {"p", to_json(X.p)}};
}

nlohmann::json to_json(const Inertia<double>& I) {
  return {{"mass", I.mass()}, {"com", to_json(I.com())}, {"tensor", to_json(I.tensor())}};
}

std::string frame_table(const Planar2RResult& r) {
  Table table("Frames, position and axes in the world W",
              {"", "x (m)", "y (m)", "x axis", "y axis"});
  const auto add = [&](const std::string& name, const Pose<double>& X) {
    const Vector3<double> axis = X.R.col(0);
    std::vector<std::string> row = {name};
    for (const auto& cell : to_cells({X.p.data(), 2})) row.push_back(cell);
    const auto pair = [](double x, double y) {
      const std::array values = {x, y};
      const auto cells = to_cells(values);
      return fmt::format("({}, {})", cells[0], cells[1]);
    };
    row.push_back(pair(axis.x(), axis.y()));
    row.push_back(pair(X.R(0, 1), X.R(1, 1)));
    table.add(row);
  };
  add("X_WB1  joint 1", r.X_WB1);
  add("X_WB2  joint 2", r.X_WB2);
  add("X_WE   tip", r.X_WE);
  return table.text();
}

std::string velocity_table(const Planar2RResult& r) {
  Table table("Velocity of the tip", {"", "x", "y", "z", ""});
  const auto add = [&](const std::string& name, const Vector3<double>& v, const char* unit) {
    std::vector<std::string> row = to_cells(numbers(v));
    row.insert(row.begin(), name);
    row.push_back(unit);
    table.add(row);
  };
  add("V_WE_E  linear, at the tip, tip axes", r.V_WE_E.v, "m/s");
  add("        angular", r.V_WE_E.w, "rad/s");
  add("V_WE_W  linear, at the origin of W, world axes", r.V_WE_W.v, "m/s");
  add("        angular", r.V_WE_W.w, "rad/s");
  add("v_WE    velocity of the tip point, world axes", r.v_WE, "m/s");
  // The spatial velocity belongs to the point at the origin of W; move it to the tip to check.
  const Vector3<double> moved = r.V_WE_W.v + r.V_WE_W.w.cross(r.X_WE.p);
  return table.text() +
         fmt::format("  check: V_WE_W.v + w x p_WE differs from v_WE by {:.1e} m/s\n",
                     (moved - r.v_WE).norm());
}

std::string inertia_table(const Planar2RResult& r) {
  Table table("Spatial inertia (kg, m, kg m2; tensor about the frame origin, Ixy = -int xy dm)",
              {"", "mass", "com x", "com y", "Ixx", "Iyy", "Izz", "Ixy"});
  const auto add = [&](const std::string& name, const Inertia<double>& I) {
    const Matrix3<double>& t = I.tensor();
    std::vector<std::string> row = {name, to_cell(I.mass())};
    for (const auto& cell : to_cells({I.com().eval().data(), 2})) row.push_back(cell);
    const std::array entries = {t(0, 0), t(1, 1), t(2, 2), t(0, 1)};
    for (const auto& cell : to_cells(entries)) row.push_back(cell);
    table.add(row);
  };
  add("I_B1  link 1, link axes", r.I_B1);
  add("I_B2  link 2, link axes", r.I_B2);
  add("I_W   both, world axes", r.I_W);
  return table.text();
}

std::string energy_tables(const Planar2RResult& r, const Eigen::Matrix2d& closed) {
  const Eigen::Matrix2d& M = r.mass_matrix;
  Table matrix("Mass matrix (kg m2)", {"", "M11", "M12", "M22"});
  matrix.add("from kinetic energies", std::array{M(0, 0), M(0, 1), M(1, 1)});
  matrix.add("closed form", std::array{closed(0, 0), closed(0, 1), closed(1, 1)});
  matrix.add("composite inertia, S^T I_W S", std::array{r.mass_matrix_11_composite});
  Table energy("Kinetic energy (J)", {"", "T"});
  energy.add("sum over the links", std::array{r.energy_bodies});
  energy.add("qd^T M qd / 2", std::array{r.energy_mass_matrix});
  return matrix.text() +
         fmt::format("  largest difference {:.1e}\n\n", (M - closed).cwiseAbs().maxCoeff()) +
         energy.text() +
         fmt::format("  difference {:.1e}\n", std::abs(r.energy_bodies - r.energy_mass_matrix));
}

class Demo : public Verb {
 public:
  std::string_view name() const override { return "demo"; }
  std::string_view summary() const override {
    return "A two-link arm in numbers; an arm that meets a wall; a lecture derived and proven.";
  }
  std::string_view examples() const override {
    return "  limb demo                              the numbers of the textbook arm\n"
           "  limb demo arm                          position and impedance control meet a wall\n"
           "  limb demo lecture                      the RR arm derived, proven, simulated\n"
           "  limb demo --q2-deg 90 --qd2 -1         another pose, other joint rates\n"
           "  limb demo --picture arm.svg            and a picture of it\n"
           "  limb demo --json                       the same numbers for a program\n";
  }

  std::string_view notes() const override {
    return "arm and lecture write a report that opens without a network, out/demo_NAME.html, and\n"
           "print a summary; the options of angles, lengths and masses are of the textbook arm.\n";
  }

  void add_options(CLI::App& app) override {
    app.add_option("NAME", which_, "arm or lecture; without: the textbook arm")->type_name("");
    app.add_option("-o,--output", output_, "report of arm or lecture, default out/demo_NAME.html")
        ->type_name("FILE.html");
    add_number(app, "--q1-deg", q1_deg_, "DEG", "angle of link 1 from the x axis of the world");
    add_number(app, "--q2-deg", q2_deg_, "DEG", "angle of link 2 from link 1");
    add_number(app, "--qd1", qd_[0], "RAD/S", "rate of joint 1");
    add_number(app, "--qd2", qd_[1], "RAD/S", "rate of joint 2");
    add_number(app, "--length1", arm_.length1, "M", "length of link 1");
    add_number(app, "--length2", arm_.length2, "M", "length of link 2");
    add_number(app, "--mass1", arm_.mass1, "KG", "mass of link 1, a uniform rod");
    add_number(app, "--mass2", arm_.mass2, "KG", "mass of link 2, a uniform rod");
    app.add_option("--picture", picture_, "write a picture of the arm, or of the charts")
        ->type_name("FILE.svg");
    app.add_flag("--json", json_, "machine-readable output")->disable_flag_override();
  }

  Exit run(std::ostream& out) override {
    if (!which_.empty()) return run_named(out);
    if (!output_.empty()) throw Error("limb demo: --output is of arm and lecture");
    const Planar2RState state{kRadPerDeg * Vector2<double>(q1_deg_, q2_deg_), qd_};
    const Planar2RResult result = evaluate("limb demo", arm_, state);
    const Eigen::Matrix2d closed = closed_form_mass_matrix(arm_, state);
    if (picture_) write_picture(draw(arm_, state, result));
    if (json_)
      out << report(state, result, closed).dump(2) << "\n";
    else
      out << tables(result, closed);
    return Exit::ok;
  }

 private:
  Exit run_named(std::ostream& out) const {
    if (which_ != "arm" && which_ != "lecture") {
      throw Error(fmt::format("limb demo: unknown argument '{}' (see: limb demo --help)", which_));
    }
    const DemoResult result = which_ == "arm" ? demo_arm() : demo_lecture();
    const std::string path = output_.empty() ? "out/demo_" + which_ + ".html" : output_;
    write_report("limb demo", path, result.page);
    if (picture_) write_picture(result.picture);
    if (json_)
      out << result.numbers.dump(2) << "\n";
    else
      out << result.text << fmt::format("\nReport: {}\n", path);
    return Exit::ok;
  }

  std::string tables(const Planar2RResult& result, const Eigen::Matrix2d& closed) const {
    return fmt::format(
        "Planar 2R arm: links {:g} m, {:g} kg and {:g} m, {:g} kg, uniform rods\n"
        "State: q = ({:g}, {:g}) deg, qd = ({:g}, {:g}) rad/s\n\n{}\n{}\n{}\n{}",
        arm_.length1, arm_.mass1, arm_.length2, arm_.mass2, q1_deg_, q2_deg_, qd_[0], qd_[1],
        frame_table(result), velocity_table(result), inertia_table(result),
        energy_tables(result, closed));
  }

  nlohmann::ordered_json report(const Planar2RState& state, const Planar2RResult& r,
                                const Eigen::Matrix2d& closed) const {
    const Ellipse ellipse = velocity_ellipse(r);
    return {
        {"limb", kVersion},
        {"units", "SI, rad; spatial vectors linear before angular"},
        {"arm", {{"length", {arm_.length1, arm_.length2}}, {"mass", {arm_.mass1, arm_.mass2}}}},
        {"state", {{"q", to_json(state.q)}, {"qd", to_json(state.qd)}}},
        {"frames",
         {{"X_WB1", to_json(r.X_WB1)}, {"X_WB2", to_json(r.X_WB2)}, {"X_WE", to_json(r.X_WE)}}},
        {"tip",
         {{"V_WE_E", to_json(r.V_WE_E.vector())},
          {"V_WE_W", to_json(r.V_WE_W.vector())},
          {"v_WE", to_json(r.v_WE)},
          {"J_v_WE", to_json(r.J_v_WE)},
          {"velocity_ellipse",
           {{"half_axes", to_json(ellipse.half_axes)}, {"angle", ellipse.angle}}}}},
        {"inertia",
         {{"I_B1", to_json(r.I_B1)}, {"I_B2", to_json(r.I_B2)}, {"I_W", to_json(r.I_W)}}},
        {"mass_matrix",
         {{"kinetic_energies", to_json(r.mass_matrix)},
          {"closed_form", to_json(closed)},
          {"composite_11", r.mass_matrix_11_composite}}},
        {"kinetic_energy", {{"bodies", r.energy_bodies}, {"mass_matrix", r.energy_mass_matrix}}}};
  }

  void write_picture(const std::string& svg) const {
    errno = 0;
    std::ofstream file(*picture_, std::ios::binary);
    file << svg;
    file.close();
    if (!file) {
      throw Error(fmt::format("limb demo: cannot write '{}': {}", *picture_, std::strerror(errno)));
    }
  }

  Planar2R arm_;
  double q1_deg_ = 30, q2_deg_ = 60;
  Vector2<double> qd_{1.0, 0.5};
  std::optional<std::string> picture_;
  std::string which_, output_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_demo() {
  return std::make_unique<Demo>();
}

}  // namespace limb::cli
