#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "limb/model/convert/convert_drake.hpp"
#include "limb/model/convert/convert_mujoco.hpp"
#include "limb/model/convert/convert_pinocchio.hpp"
#include "limb/model/convert/convert_rbdl.hpp"
#include "python/src/bind.hpp"

namespace limb::python {
namespace {

const ConventionFacts& facts_of(const std::string& library) {
  if (library == "pinocchio") return kPinocchioFacts;
  if (library == "mujoco") return kMujocoFacts;
  if (library == "drake") return kDrakeFacts;
  if (library == "rbdl") return kRbdlFacts;
  fail("convert", "library", "'" + library + "'", "'pinocchio', 'mujoco', 'drake' or 'rbdl'");
}

class Converter {
 public:
  Converter(const Robot& robot, const std::string& library,
            const std::vector<std::string>& joint_names)
      : robot_(robot),
        convention_(joint_names.empty()
                        ? Convention(facts_of(library), robot.model(), robot.description())
                        : Convention(facts_of(library), robot.model(), joint_names)) {}

  int nq() const { return convention_.nq(); }
  int nv() const { return convention_.nv(); }
  std::vector<std::string> joints() const {
    std::vector<std::string> names;
    for (const auto& place : convention_.joints()) names.push_back(place.name);
    return names;
  }

  nb::object q_to(nb::handle q) const {
    return map("q_to", robot_, {position(robot_, q)}, Result::vector(nq()), {nb::none()},
               [&](Workspaces&, const double* const* in, double* const* to) {
                 Vector(to[0], nq()) = convention_.q_to(joint_q(in[0]));
               });
  }
  nb::object q_from(nb::handle q) const {
    refuse_couplings("q_from");
    return map("q_from", robot_, {{"q", q, nq()}}, Result::vector(robot_.nq()), {nb::none()},
               [&](Workspaces&, const double* const* in, double* const* to) {
                 Vector(to[0], robot_.nq()) = convention_.q_from(ConstVector(in[0], nq()));
               });
  }
  nb::object v_to(nb::handle q, nb::handle v) const {
    return map("v_to", robot_, {position(robot_, q), velocity(robot_, v)}, Result::vector(nv()),
               {nb::none()}, [&](Workspaces&, const double* const* in, double* const* to) {
                 Vector(to[0], nv()) = convention_.v_to(joint_q(in[0]), joint_v(in[1]));
               });
  }
  nb::object v_from(nb::handle q, nb::handle v) const {
    refuse_couplings("v_from");
    return map("v_from", robot_, {position(robot_, q), {"v", v, nv()}}, Result::vector(robot_.nv()),
               {nb::none()}, [&](Workspaces&, const double* const* in, double* const* to) {
                 Vector(to[0], nv()) = convention_.v_from(joint_q(in[0]), ConstVector(in[1], nv()));
               });
  }
  nb::object a_to(nb::handle q, nb::handle v, nb::handle a) const {
    return map("a_to", robot_, {position(robot_, q), velocity(robot_, v), velocity(robot_, a, "a")},
               Result::vector(nv()), {nb::none()},
               [&](Workspaces&, const double* const* in, double* const* to) {
                 Vector(to[0], nv()) =
                     convention_.a_to(joint_q(in[0]), joint_v(in[1]), joint_v(in[2]));
               });
  }
  nb::object a_from(nb::handle q, nb::handle v, nb::handle a) const {
    refuse_couplings("a_from");
    return map("a_from", robot_, {position(robot_, q), velocity(robot_, v), {"a", a, nv()}},
               Result::vector(robot_.nv()), {nb::none()},
               [&](Workspaces&, const double* const* in, double* const* to) {
                 Vector(to[0], nv()) =
                     convention_.a_from(joint_q(in[0]), joint_v(in[1]), ConstVector(in[2], nv()));
               });
  }
  nb::object tau_to(nb::handle q, nb::handle tau) const {
    refuse_couplings("tau_to");
    return map("tau_to", robot_, {position(robot_, q), velocity(robot_, tau, "tau")},
               Result::vector(nv()), {nb::none()},
               [&](Workspaces&, const double* const* in, double* const* to) {
                 Vector(to[0], nv()) = convention_.tau_to(joint_q(in[0]), ConstVector(in[1], nv()));
               });
  }
  nb::object tau_from(nb::handle q, nb::handle tau) const {
    refuse_couplings("tau_from");
    return map(
        "tau_from", robot_, {position(robot_, q), {"tau", tau, nv()}}, Result::vector(robot_.nv()),
        {nb::none()}, [&](Workspaces&, const double* const* in, double* const* to) {
          Vector(to[0], nv()) = convention_.tau_from(joint_q(in[0]), ConstVector(in[1], nv()));
        });
  }
  nb::object mass_matrix(nb::handle q, nb::handle M, bool to_library) const {
    const char* call = to_library ? "mass_matrix_to" : "mass_matrix_from";
    refuse_couplings(call);
    const int n = nv();
    return map(call, robot_, {position(robot_, q), {"M", M, n * n, Argument::Kind::matrix, n}},
               Result::matrix(n, n), {nb::none()},
               [&, to_library](Workspaces&, const double* const* in, double* const* to) {
                 const MatrixX<double> given =
                     Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(in[1], n, n);
                 Matrix(to[0], n, n) = to_library
                                           ? convention_.mass_matrix_to(joint_q(in[0]), given)
                                           : convention_.mass_matrix_from(joint_q(in[0]), given);
               });
  }
  nb::object jacobian(nb::handle q, nb::handle J, bool to_library) const {
    const char* call = to_library ? "jacobian_to" : "jacobian_from";
    refuse_couplings(call);
    const int n = nv();
    return map(call, robot_, {position(robot_, q), {"J", J, 6 * n, Argument::Kind::matrix, 6}},
               Result::matrix(6, n), {nb::none()},
               [&, to_library](Workspaces&, const double* const* in, double* const* to) {
                 const MatrixX<double> given =
                     Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(in[1], 6, n);
                 Matrix(to[0], 6, n) = to_library
                                           ? convention_.jacobian_to(joint_q(in[0]), given)
                                           : convention_.jacobian_from(joint_q(in[0]), given);
               });
  }
  /// Order of the linear and angular parts of wrenches and motions.
  nb::object spatial(nb::handle x, bool to_library) const {
    return map(to_library ? "spatial_to" : "spatial_from", robot_, {{"x", x, 6}}, Result::vector(6),
               {nb::none()},
               [&, to_library](Workspaces&, const double* const* in, double* const* to) {
                 const Vector6<double> given = ConstVector(in[0], 6);
                 Vector(to[0], 6) = to_library ? convention_.jacobian_rows_to(given)
                                               : convention_.jacobian_rows_from(given);
               });
  }

 private:
  void refuse_couplings(const char* call) const {
    if (robot_.model().coupling().is_identity()) return;
    throw Error(
        std::string(call) +
        ": joints of this robot are coupled to others, which the other library does not support");
  }
  VectorX<double> joint_q(const double* q) const {
    VectorX<double> all(robot_.model().uncoupled_nq());
    robot_.model().coupling().expand_position(q, all.data());
    return all;
  }
  VectorX<double> joint_v(const double* v) const {
    VectorX<double> all(robot_.model().uncoupled_nv());
    robot_.model().coupling().expand_velocity(v, all.data());
    return all;
  }

  const Robot& robot_;
  Convention convention_;
};

}  // namespace

void bind_convert(nb::module_& m) {
  nb::class_<Converter>(
      m, "Converter", "Converts vectors and matrices of a robot between limb and another library.")
      .def(nb::init<const Robot&, const std::string&, const std::vector<std::string>&>(), "robot"_a,
           "library"_a, "joint_names"_a = std::vector<std::string>(), nb::keep_alive<1, 2>(),
           Doc("Between limb and another library.\n\nArgs:\n    robot: The robot.\n    library: "
               "\"pinocchio\", \"mujoco\", \"drake\" or \"rbdl\".\n    joint_names: Joint order of "
               "the other library, if it differs from that of its file reader."))
      .def_prop_ro("nq", &Converter::nq, Doc("Size of q in the other library."))
      .def_prop_ro("nv", &Converter::nv, Doc("Size of velocities of the other library."))
      .def_prop_ro("joints", &Converter::joints, Doc("Joints in the order of the other library."))
      .def("q_to", &Converter::q_to, "q"_a, nb::sig("def q_to(self, q: ArrayLike) -> Array"),
           Doc("Converts a configuration to the other library."))
      .def("q_from", &Converter::q_from, "q"_a, nb::sig("def q_from(self, q: ArrayLike) -> Array"),
           Doc("Converts a configuration from the other library."))
      .def("v_to", &Converter::v_to, "q"_a, "v"_a,
           nb::sig("def v_to(self, q: ArrayLike, v: ArrayLike) -> Array"),
           Doc("q is in limb's conventions."))
      .def("v_from", &Converter::v_from, "q"_a, "v"_a,
           nb::sig("def v_from(self, q: ArrayLike, v: ArrayLike) -> Array"),
           Doc("q is in limb's conventions."))
      .def("a_to", &Converter::a_to, "q"_a, "v"_a, "a"_a,
           nb::sig("def a_to(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array"),
           Doc("q and v are in limb's conventions."))
      .def("a_from", &Converter::a_from, "q"_a, "v"_a, "a"_a,
           nb::sig("def a_from(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array"),
           Doc("q and v are in limb's conventions."))
      .def("tau_to", &Converter::tau_to, "q"_a, "tau"_a,
           nb::sig("def tau_to(self, q: ArrayLike, tau: ArrayLike) -> Array"),
           Doc("Converts generalised forces to the other library."))
      .def("tau_from", &Converter::tau_from, "q"_a, "tau"_a,
           nb::sig("def tau_from(self, q: ArrayLike, tau: ArrayLike) -> Array"),
           Doc("Converts generalised forces from the other library."))
      .def(
          "mass_matrix_to",
          [](const Converter& c, nb::handle q, nb::handle M) { return c.mass_matrix(q, M, true); },
          "q"_a, "M"_a, nb::sig("def mass_matrix_to(self, q: ArrayLike, M: ArrayLike) -> Array"),
          Doc("Converts a mass matrix to the other library.\n\nArgs:\n    M: Mass matrix, `(nv, "
              "nv)` or `(..., nv, nv)`."))
      .def(
          "mass_matrix_from",
          [](const Converter& c, nb::handle q, nb::handle M) { return c.mass_matrix(q, M, false); },
          "q"_a, "M"_a, nb::sig("def mass_matrix_from(self, q: ArrayLike, M: ArrayLike) -> Array"),
          Doc("Converts a mass matrix from the other library.\n\nArgs:\n    M: Mass matrix, `(nv, "
              "nv)` or `(..., nv, nv)`."))
      .def(
          "jacobian_to",
          [](const Converter& c, nb::handle q, nb::handle J) { return c.jacobian(q, J, true); },
          "q"_a, "J"_a, nb::sig("def jacobian_to(self, q: ArrayLike, J: ArrayLike) -> Array"),
          Doc("Converts the columns of a Jacobian to the other library.\n\nArgs:\n    J: Jacobian "
              "whose columns are velocities, `(6, nv)` or `(..., 6, nv)`."))
      .def(
          "jacobian_from",
          [](const Converter& c, nb::handle q, nb::handle J) { return c.jacobian(q, J, false); },
          "q"_a, "J"_a, nb::sig("def jacobian_from(self, q: ArrayLike, J: ArrayLike) -> Array"),
          Doc("Converts the columns of a Jacobian from the other library.\n\nArgs:\n    J: "
              "Jacobian whose columns are velocities, `(6, nv)` or `(..., 6, nv)`."))
      .def(
          "spatial_to", [](const Converter& c, nb::handle x) { return c.spatial(x, true); }, "x"_a,
          nb::sig("def spatial_to(self, x: ArrayLike) -> Array"),
          Doc("Reorders the linear and angular parts of a motion or wrench."
              "\n\nArgs:\n    x: Spatial vector, `(6,)`."))
      .def(
          "spatial_from", [](const Converter& c, nb::handle x) { return c.spatial(x, false); },
          "x"_a, nb::sig("def spatial_from(self, x: ArrayLike) -> Array"),
          Doc("Converts the order of a spatial vector from the other library.\n\nArgs:\n    x: "
              "Spatial vector, `(6,)`."));
}

}  // namespace limb::python
