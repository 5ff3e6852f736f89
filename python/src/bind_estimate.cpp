#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <cmath>

#include "limb/estimate/estimator/base_smoother.hpp"
#include "limb/estimate/walk/synthetic_walk.hpp"
#include "python/src/arrays.hpp"
#include "python/src/bind.hpp"
#include "python/src/matrix_caster.hpp"

namespace limb::python {
namespace {

using V3 = Vector3<double>;
using M3 = Matrix3<double>;

/// Names of options and the numbers that they set.
struct Option {
  const char* name;
  double& value;
};
std::vector<Option> numbers_of(EstimatorOptions& o) {
  return {{"gyro_noise", o.imu.gyro},
          {"accel_noise", o.imu.accel},
          {"gyro_walk", o.imu.gyro_walk},
          {"accel_walk", o.imu.accel_walk},
          {"contact_noise", o.contact_noise},
          {"encoder", o.encoder},
          {"encoder_rate", o.encoder_rate},
          {"foot_error", o.foot_error},
          {"foot_speed", o.foot_speed},
          {"make_force", o.contact.make_force},
          {"break_force", o.contact.break_force},
          {"make_time", o.contact.make_time},
          {"break_time", o.contact.break_time},
          {"gate", o.gate},
          {"slip_time", o.slip_time},
          {"ground_height", o.ground_height},
          {"ground_deviation", o.ground_deviation},
          {"gyro_range", o.gyro_range},
          {"accel_range", o.accel_range},
          {"longest_gap", o.longest_gap},
          {"lost_gap", o.lost_gap},
          {"skew", o.skew},
          {"step_height", o.step_height},
          {"foot_radius", o.foot_radius},
          {"sole_length", o.sole_length},
          {"sole_width", o.sole_width},
          {"rest", o.initial.rest},
          {"yaw", o.initial.yaw},
          {"yaw_deviation", o.initial.yaw_deviation},
          {"position_deviation", o.initial.position_deviation},
          {"velocity_deviation", o.initial.velocity_deviation},
          {"gyro_bias_deviation", o.initial.gyro_bias_deviation},
          {"accel_bias_deviation", o.initial.accel_bias_deviation}};
}

EstimatorOptions options_of(const std::string& filter, const std::string& odometry,
                            const nb::dict& given) {
  EstimatorOptions options;
  options.filter = filter_kind("BaseEstimator", filter);
  if (odometry != "position" && odometry != "velocity") {
    fail("BaseEstimator", "odometry", "'" + odometry + "'", "'position' or 'velocity'");
  }
  if (odometry == "velocity") options.odometry = Odometry::velocity;
  const auto numbers = numbers_of(options);
  for (const auto& [key, value] : given) {
    const std::string name = nb::cast<std::string>(nb::str(key));
    if (name == "position") {
      options.initial.p_WB = nb::cast<V3>(value);
      continue;
    }
    if (name == "terrain") {
      const std::string kind = nb::cast<std::string>(nb::str(value));
      if (kind != "unknown" && kind != "flat" && kind != "steps") {
        fail("BaseEstimator", "terrain", "'" + kind + "'", "'unknown', 'flat' or 'steps'");
      }
      options.terrain = kind == "flat"    ? Terrain::flat
                        : kind == "steps" ? Terrain::steps
                                          : Terrain::unknown;
      continue;
    }
    if (name == "adapt") {
      options.adapt = nb::cast<bool>(value);
      continue;
    }
    bool found = false;
    for (const Option& option : numbers) {
      if (name != option.name) continue;
      option.value = nb::cast<double>(value);
      found = true;
    }
    if (found) continue;
    std::string all = "position";
    for (const Option& option : numbers) all += std::string(", ") + option.name;
    all += ", terrain, adapt";
    fail("BaseEstimator", "option", "'" + name + "'", "one of " + all);
  }
  return options;
}

/// One vector of float64.
VectorX<double> vector_of(const char* call, const char* name, nb::handle value, int size) {
  Leading leading;
  nb::object back;
  const ArrayIn x = read_array(call, {name, value, size}, leading, back);
  if (leading.rank > 0 || x.is_float) {
    throw Error(std::string(call) + ": " + name +
                " is a batch or float32, expected one vector of float64");
  }
  return ConstVector(static_cast<const double*>(x.data), size);
}

class Estimator {
 public:
  Estimator(const Robot& robot, const std::vector<std::string>& feet, const std::string& imu,
            const std::string& filter, const std::string& odometry, const nb::dict& options)
      : robot_(robot),
        feet_(static_cast<int>(feet.size())),
        estimator_(robot.model(), feet, imu, options_of(filter, odometry, options)) {}

  bool imu(double t, const V3& gyro, const V3& accel) {
    return estimator_.imu(t, {gyro, accel}) == Status::ok;
  }
  bool legs(double t, nb::handle q, nb::handle v, nb::handle forces) {
    constexpr const char* kCall = "legs";
    const VectorX<double> f = vector_of(kCall, "forces", forces, feet_);
    return estimator_.legs(t, vector_of(kCall, "q", q, robot_.nq()),
                           vector_of(kCall, "v", v, robot_.nv()),
                           std::span(f.data(), static_cast<std::size_t>(f.size()))) == Status::ok;
  }
  bool position_fix(double t, const V3& p, const V3& point, double deviation) {
    return estimator_.position_fix(t, p, point, deviation * deviation * M3::Identity()) ==
           Status::ok;
  }
  bool yaw_fix(double t, double yaw, double deviation) {
    return estimator_.yaw_fix(t, yaw, deviation) == Status::ok;
  }
  bool orientation_fix(double t, const M3& R, double deviation) {
    return estimator_.orientation_fix(t, R, deviation) == Status::ok;
  }
  bool velocity_fix(double t, const V3& v, double deviation, bool in_base_axes) {
    return estimator_.velocity_fix(t, v, deviation * deviation * M3::Identity(), in_base_axes) ==
           Status::ok;
  }
  bool foot_positions(double t, nb::handle p, nb::handle contact, double deviation) {
    constexpr const char* kCall = "foot_positions";
    const VectorX<double> positions = vector_of(kCall, "p", p, 3 * feet_),
                          probability = vector_of(kCall, "contact", contact, feet_);
    std::vector<FootSample> samples(static_cast<std::size_t>(feet_));
    for (int i = 0; i < feet_; ++i) {
      FootSample& sample = samples[static_cast<std::size_t>(i)];
      sample.p_BF = positions.segment<3>(3 * i);
      sample.covariance = deviation * deviation * M3::Identity();
      sample.contact = probability[i];
    }
    return estimator_.feet(t, samples) == Status::ok;
  }
  nb::dict verdict() const {
    const ConsistencyMonitor::Result r = estimator_.verdict();
    nb::dict result;
    result["verdict"] = to_text(r.verdict);
    result["t"] = r.t;
    result["reason"] = r.reason;
    result["nis_per_row"] = r.nis_per_row;
    result["worst_window"] = r.worst_window;
    result["refused"] = r.refused;
    return result;
  }
  void reset() { estimator_.reset(); }
  void initialize(double t, const V3& p, const M3& R, const V3& v,
                  const Eigen::Matrix<double, 15, 1>& deviations) {
    FilterState state;
    const Pose<double> X_WS = Pose<double>{R, p} * estimator_.leg_kinematics().X_BS();
    state.p_WS = X_WS.p;
    state.R_WS = X_WS.R;
    state.v_WS = v;
    estimator_.initialize(t, state, Matrix15(deviations.cwiseAbs2().asDiagonal()));
  }
  bool ready() const { return estimator_.ready(); }

  nb::object estimate() const {
    if (!ready()) {
      throw Error("estimate: not available yet, the robot has not been at rest (see ready)");
    }
    return result_of(estimator_.estimate());
  }
  /// Smoothed estimates of a log, in order of time; the estimator itself does not change.
  nb::list smooth(nb::handle t, nb::handle gyro, nb::handle accel, nb::handle q, nb::handle v,
                  nb::handle forces) const {
    constexpr const char* kCall = "smooth";
    BaseSmoother smoother(estimator_);
    const std::size_t rows = nb::len(t);
    for (std::size_t k = 0; k < rows; ++k) {
      const double now = nb::cast<double>(t[k]);
      const VectorX<double> w = vector_of(kCall, "gyro", gyro[k], 3),
                            f = vector_of(kCall, "accel", accel[k], 3),
                            force = vector_of(kCall, "forces", forces[k], feet_);
      smoother.imu(now, {V3(w), V3(f)});
      smoother.legs(now, vector_of(kCall, "q", q[k], robot_.nq()),
                    vector_of(kCall, "v", v[k], robot_.nv()),
                    std::span(force.data(), static_cast<std::size_t>(force.size())));
    }
    std::vector<BaseEstimate> backwards;
    smoother.smooth([&](const BaseSmoother::Point& point) { backwards.push_back(point.smoothed); });
    nb::list result;
    for (std::size_t k = backwards.size(); k-- > 0;) result.append(result_of(backwards[k]));
    return result;
  }
  nb::dict counts() const {
    nb::dict result;
    for (const auto& [name, count] : estimator_.diagnostics().counts()) result[name] = count;
    return result;
  }
  nb::list feet() const {
    nb::list result;
    for (int i = 0; i < feet_; ++i) {
      const auto& foot = estimator_.foot(i);
      result.append(result_type("FootStatus")(foot.stands, foot.used, foot.nis));
    }
    return result;
  }
  std::string filter() const { return std::string(estimator_.filter().name()); }

 private:
  static nb::object result_of(const BaseEstimate& e) {
    Vector4<double> quaternion = quaternion_from_matrix(e.X_WB.R).xyzw();
    return result_type("BaseEstimate")(e.t, nb::cast(V3(e.X_WB.p)), nb::cast(M3(e.X_WB.R)),
                                       nb::cast(quaternion), nb::cast(V3(e.v_WB)),
                                       nb::cast(e.V_WB_B.vector()), nb::cast(V3(e.gyro_bias)),
                                       nb::cast(V3(e.accel_bias)), nb::cast(e.covariance));
  }

  const Robot& robot_;
  int feet_;
  BaseEstimator estimator_;
};

/// A noisy walk as arrays, one row per instant.
nb::dict synthetic_walk(const Robot& robot, const std::vector<std::string>& feet,
                        const std::string& imu, double duration, double rate, double speed,
                        double rest, double crouch, std::uint64_t seed, double gyro_noise,
                        double accel_noise, double encoder, double encoder_rate, double creep,
                        const V3& gyro_bias, const V3& accel_bias,
                        const std::vector<std::tuple<int, double, double, V3>>& slips) {
  WalkOptions options;
  for (const auto& [foot, begin, end, velocity] : slips) {
    options.slips.push_back({foot, begin, end, velocity});
  }
  options.feet = feet;
  options.imu = imu;
  options.duration = duration;
  options.rate = rate;
  options.speed = speed;
  options.rest = rest;
  options.crouch = crouch;
  WalkErrors errors;
  errors.imu.gyro = gyro_noise;
  errors.imu.accel = accel_noise;
  errors.encoder = encoder;
  errors.encoder_rate = encoder_rate;
  errors.creep = creep;
  errors.gyro_bias = gyro_bias;
  errors.accel_bias = accel_bias;
  const SyntheticWalk walk(robot.model(), options);
  const auto rows = static_cast<npy_intp>(walk.instants().size());
  nb::dict result;
  const auto make = [&](const char* name, int columns) {
    npy_intp dims[2] = {rows, columns};
    PyObject* array = PyArray_SimpleNew(columns == 0 ? 1 : 2, dims, NPY_DOUBLE);
    if (array == nullptr) throw nb::python_error();
    result[name] = nb::steal(array);
    return static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array)));
  };
  double* t = make("t", 0);
  double* gyro = make("gyro", 3);
  double* accel = make("accel", 3);
  double* q = make("q", robot.nq());
  double* v = make("v", robot.nv());
  double* contact = make("contact", static_cast<int>(feet.size()));
  double* q_true = make("q_true", robot.nq());
  double* v_true = make("v_true", robot.nv());
  const auto put = [](double*& to, const auto& values) {
    to = std::copy(values.begin(), values.end(), to);
  };
  NoisyWalk noisy(walk, errors, seed);
  while (noisy.next()) {
    *t++ = noisy.instant().t;
    put(gyro, noisy.imu().gyro);
    put(accel, noisy.imu().accel);
    put(q, noisy.q());
    put(v, noisy.v());
    for (const bool stands : noisy.instant().contact) *contact++ = stands ? 100 : 0;
    put(q_true, noisy.instant().q);
    put(v_true, noisy.instant().v);
  }
  return result;
}

}  // namespace

void bind_estimate(nb::module_& m) {
  nb::class_<Estimator>(m, "BaseEstimator",
                        "State of a floating base from IMU, joint encoders and contacts.")
      .def(nb::init<const Robot&, const std::vector<std::string>&, const std::string&,
                    const std::string&, const std::string&, const nb::dict&>(),
           "robot"_a, "feet"_a, "imu"_a, "filter"_a, "odometry"_a, "options"_a,
           nb::keep_alive<1, 2>(),
           Doc("See limb.estimate.BaseEstimator.\n\nArgs:\n    robot: The robot.\n    feet: Frames "
               "of the feet.\n    imu: Frame of the IMU.\n    filter: Name of the filter.\n    "
               "odometry: Measurements of the legs.\n    options: Further options by name."))
      .def("imu", &Estimator::imu, "t"_a, "gyro"_a, "accel"_a,
           Doc("An IMU sample: angular velocity, rad/s, and specific force, m/s^2, in sensor axes. "
               "True if it "
               "was used."
               "\n\nArgs:\n    gyro: `(3,)`, rad/s.\n    accel: `(3,)`, m/s^2."))
      .def(
          "legs", &Estimator::legs, "t"_a, "q"_a, "v"_a, "forces"_a,
          nb::sig("def legs(self, t: float, q: ArrayLike, v: ArrayLike, forces: ArrayLike) -> "
                  "bool"),
          Doc("Joint positions and velocities in q and v (the entries of the base are ignored) and "
              "forces "
              "of the feet, N."
              "\n\nArgs:\n    forces: Of each foot, N."))
      .def("position_fix", &Estimator::position_fix, "t"_a, "p"_a, "point"_a = V3::Zero().eval(),
           "deviation"_a = 0.01,
           nb::sig("def position_fix(self, t: float, p: ArrayLike, point: ArrayLike = (0, 0, 0), "
                   "deviation: float = 0.01) -> bool"),
           Doc("Position measurement p of a point of the base, given in base axes."
               "\n\nArgs:\n    p: `(3,)`, m, in the world.\n    point: In base axes, `(3,)`, m.\n  "
               "  deviation: Standard deviation."))
      .def("yaw_fix", &Estimator::yaw_fix, "t"_a, "yaw"_a, "deviation"_a = 0.01,
           Doc("Measurement of the yaw of the base, rad."
               "\n\nArgs:\n    yaw: rad.\n    deviation: Standard deviation."))
      .def("orientation_fix", &Estimator::orientation_fix, "t"_a, "R"_a, "deviation"_a = 0.01,
           Doc("Measurement of the orientation of the base, with this deviation about each axis, "
               "rad."
               "\n\nArgs:\n    R: `(3, 3)`, of the base in the world.\n    deviation: Standard "
               "deviation."))
      .def("velocity_fix", &Estimator::velocity_fix, "t"_a, "v"_a, "deviation"_a = 0.05,
           "in_base_axes"_a = false,
           Doc("Measurement of the velocity of the base's origin, in axes of the world or the "
               "base."
               "\n\nArgs:\n    v: `(3,)`, m/s.\n    deviation: Standard deviation.\n    "
               "in_base_axes: Whether v is in base axes; otherwise in world axes."))
      .def(
          "foot_positions", &Estimator::foot_positions, "t"_a, "p"_a, "contact"_a,
          "deviation"_a = 2e-3,
          nb::sig("def foot_positions(self, t: float, p: ArrayLike, contact: ArrayLike, deviation: "
                  "float = 0.002) -> bool"),
          Doc("Positions of all feet in axes of the base, one after the other, instead of joints, "
              "and "
              "the\nprobability of contact of each. True if they were used."
              "\n\nArgs:\n    p: `(3 feet,)`, m.\n    contact: Probability of contact of each "
              "foot.\n    deviation: Standard deviation."))
      .def(
          "verdict", &Estimator::verdict, nb::sig("def verdict(self) -> dict[str, Any]"),
          Doc("Whether the estimate can be trusted: verdict ('consistent', 'overconfident', "
              "'lost'), t "
              "and\nreason, mean NIS per row, that of the worst second, fraction of feet refused."))
      .def("reset", &Estimator::reset, Doc("Restarts the filter, waiting for rest."))
      .def(
          "initialize", &Estimator::initialize, "t"_a, "p"_a, "R"_a, "v"_a, "deviations"_a,
          Doc("Starts at a pose of the base and a velocity of the sensor, instead of waiting for "
              "rest.\n"
              "Standard deviations, three each: position, rotation, velocity, gyroscope bias, "
              "accelerometer bias."
              "\n\nArgs:\n    p: Position of the base, `(3,)`, m.\n    R: Orientation of the base, "
              "`(3, 3)`.\n    v: Velocity of the sensor, `(3,)`, m/s.\n    deviations: `(15,)`."))
      .def_prop_ro("ready", &Estimator::ready, Doc("Whether there is an estimate."))
      .def_prop_ro("filter", &Estimator::filter, Doc("Name of the filter: \"inekf\" or \"eskf\"."))
      .def("estimate", &Estimator::estimate, nb::sig("def estimate(self) -> BaseEstimate"),
           Doc("The current estimate. Raises Error before the first estimate."))
      .def(
          "smooth", &Estimator::smooth, "t"_a, "gyro"_a, "accel"_a, "q"_a, "v"_a, "forces"_a,
          nb::sig("def smooth(self, t: ArrayLike, gyro: ArrayLike, accel: ArrayLike, q: ArrayLike, "
                  "v: ArrayLike, forces: ArrayLike) -> list[BaseEstimate]"),
          Doc("Fixed-interval smoothing of a log with one row per instant: estimates that use all "
              "of "
              "it, in\norder of time. Starts from the present state; the estimator itself does not "
              "change.\n\nArgs:\n    t: Times, `(N,)`, s.\n    gyro: Angular velocities, `(N, 3)`, "
              "rad/s.\n    "
              "accel: Specific forces, `(N, 3)`, m/s^2.\n    q: Joint positions, `(N, nq)`.\n    "
              "v: Joint velocities, "
              "`(N, nv)`.\n    forces: Normal forces of the feet, `(N, feet)`, N."))
      .def("counts", &Estimator::counts, nb::sig("def counts(self) -> dict[str, int]"),
           Doc("Counts of received, used and rejected measurements."))
      .def("feet", &Estimator::feet, nb::sig("def feet(self) -> list[FootStatus]"),
           Doc("Frames of the feet."));
  m.def(
      "synthetic_walk", synthetic_walk, "robot"_a, "feet"_a, nb::kw_only(), "imu"_a = "",
      "duration"_a = 10.0, "rate"_a = 400.0, "speed"_a = 0.3, "rest"_a = 1.2,
      "crouch"_a = std::nan(""), "seed"_a = 1, "gyro_noise"_a = 2e-4, "accel_noise"_a = 2.5e-3,
      "encoder"_a = 1e-3, "encoder_rate"_a = 0.02, "creep"_a = 2e-3,
      "gyro_bias"_a = V3::Zero().eval(), "accel_bias"_a = V3::Zero().eval(), "slips"_a = nb::list(),
      nb::sig("def synthetic_walk(robot: Any, feet: Sequence[str], *, imu: str = '', duration: "
              "float = 10, rate: float = 400, speed: float = 0.3, rest: float = 1.2, crouch: "
              "float = float('nan'), seed: int = 1, gyro_noise: float = 2e-4, accel_noise: float = "
              "2.5e-3, encoder: float = 1e-3, encoder_rate: float = 0.02, creep: float = 2e-3, "
              "gyro_bias: ArrayLike = (0, 0, 0), accel_bias: ArrayLike = (0, 0, 0), slips: "
              "Sequence[tuple[int, float, float, ArrayLike]] = ()) -> dict[str, Array]"),
      Doc("A synthetic walk with exact sensor values, and noise on them: arrays t, gyro, accel, q, "
          "v,\n"
          "contact (N), q_true, v_true, one row per instant. A slip (foot index, begin, end, "
          "velocity)\n"
          "moves a stance foot."
          "\n\nArgs:\n    feet: Frames of the feet.\n    imu: Frame of the IMU; empty: the base.\n "
          "   duration: s.\n    rate: Hz.\n    speed: m/s.\n    rest: Initial rest, s.\n    "
          "crouch: Fraction by which the legs are shorter than straight; NaN: a default.\n    "
          "gyro_noise: rad/s per square root of Hz.\n    accel_noise: m/s^2 per square root of "
          "Hz.\n    encoder: Deviation of joint angles, rad.\n    encoder_rate: Deviation of joint "
          "velocities, rad/s.\n    creep: Motion of feet in stance, m/s.\n    gyro_bias: `(3,)`, "
          "rad/s.\n    accel_bias: `(3,)`, m/s^2.\n    slips: (foot index, begin, end, velocity) "
          "of each slip."));
}

}  // namespace limb::python
