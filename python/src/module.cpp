#define LIMB_IMPORTS_NUMPY
#include "limb/base/version.hpp"
#include "python/src/argument_errors.hpp"
#include "python/src/bind.hpp"
#include "python/src/control_arguments.hpp"

namespace {

/// limb::Error as limb.Error (a ValueError), or limb.ComputationError if a result does not exist.
void translate(const std::exception_ptr& thrown, void* types) {
  try {
    std::rethrow_exception(thrown);
  } catch (const limb::Error& error) {
    PyObject** both = static_cast<PyObject**>(types);
    PyErr_SetString(both[error.kind() == limb::Error::Kind::bad_input ? 0 : 1], error.what());
  }
}

PyObject* error_types[2];

}  // namespace

NB_MODULE(_limb, m) {
  using namespace limb::python;
  if (PyArray_ImportNumPyAPI() < 0) throw nb::python_error();
  m.doc() = "The C++ extension of limb.";
  m.attr("__version__") = limb::kVersion;

  error_types[0] = PyErr_NewExceptionWithDoc(
      "limb.Error",
      "Invalid input: the message names the call, the argument, what was found and what was "
      "expected.",
      PyExc_ValueError, nullptr);
  error_types[1] = PyErr_NewExceptionWithDoc("limb.ComputationError",
                                             "The input is valid but the result does not exist.",
                                             error_types[0], nullptr);
  m.attr("Error") = nb::handle(error_types[0]);
  m.attr("ComputationError") = nb::handle(error_types[1]);
  nb::register_exception_translator(translate, error_types);

  nb::class_<Robot> robot(m, "Robot", "A robot; see limb.Robot.");
  bind_robot(m, robot);
  bind_geometry(robot);
  bind_kinematics(robot);
  bind_frames(robot);
  bind_dynamics(robot);
  bind_lagrange(robot);
  bind_momentum(robot);
  bind_derivatives(robot);
  bind_motion_derivatives(robot);
  bind_second_derivatives(robot);
  bind_contact_derivatives(robot);
  bind_regressor(robot);
  bind_contacts(m, robot);
  bind_operational_space(robot);
  bind_inverse_kinematics(robot);
  bind_compiled(m);
  bind_derivation(m);
  bind_convert(m);
  bind_math(m);
  bind_ground(m);
  bind_world(m);
  bind_simulation(m);
  bind_scenario(m);
  bind_control(m);
  bind_frame_control(m);
  bind_whole_body(m);
  bind_locomotion(m);
  bind_estimate(m);
  bind_legged(m);
  explain_argument_errors(m);
}
