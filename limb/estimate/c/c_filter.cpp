#include "limb/estimate/c/c_filter.hpp"

#include <fmt/format.h>

#include "limb/base/check.hpp"
#include "limb/codegen/c/emit_c_statements.hpp"
#include "limb/codegen/record/function_tracer.hpp"
#include "limb/estimate/filter/error_definitions.hpp"
#include "limb/estimate/filter/imu_impl.hpp"

namespace limb {
namespace {

using codegen::Trace;
using codegen::Tracer;
using Vec = Vector3<Traced>;
using Mat = Matrix3<Traced>;

Vec vec(const VectorX<Traced>& x) {
  return Vec(x[0], x[1], x[2]);
}
Mat mat(const VectorX<Traced>& x) {
  Mat M;
  for (int i = 0; i < 9; ++i) M(i % 3, i / 3) = x[i];
  return M;
}
MatrixX<Traced> dynamic(const Mat& M) {
  return M;
}

/// Inputs of a state, named as in the struct.
FilterStateOf<Traced> state_input(Tracer& tracer, bool with_velocity, bool with_biases) {
  FilterStateOf<Traced> x;
  x.p_WS = vec(tracer.input("p", 3));
  x.R_WS = mat(tracer.input("R", 9));
  if (with_velocity) x.v_WS = vec(tracer.input("v", 3));
  if (with_biases) {
    x.gyro_bias = vec(tracer.input("gyro_bias", 3));
    x.accel_bias = vec(tracer.input("accel_bias", 3));
  }
  return x;
}

Vec constant(const Vector3<double>& x) {
  return Vec(Traced(x[0]), Traced(x[1]), Traced(x[2]));
}
Mat constant(const Matrix3<double>& x) {
  Mat M;
  for (int i = 0; i < 9; ++i) M(i % 3, i / 3) = Traced(x(i % 3, i / 3));
  return M;
}

/// An IMU step: the next state, E and Q of the core.
template <typename Errors>
Trace trace_step(const Vector3<double>& gravity) {
  Tracer tracer("step");
  const FilterStateOf<Traced> x = state_input(tracer, true, true);
  const Vec gyro = vec(tracer.input("gyro", 3)), accel = vec(tracer.input("accel", 3));
  const Traced T = tracer.input("T", 1)[0];
  const VectorX<Traced> n = tracer.input("noise", 4);
  const ImuSampleOf<Traced> sample{gyro - x.gyro_bias, accel - x.accel_bias};
  ImuStepOf<Traced> step;
  integrate_imu_impl<Traced>(sample, T, ImuNoiseOf<Traced>{n[0], n[1], n[2], n[3]}, step);
  const Vec g = constant(gravity);
  const FilterStateOf<Traced> y = propagated_state<Traced>(x, g, step);
  MatrixX<Traced> E = MatrixX<Traced>::Constant(9, 15, Traced(0)),
                  U = MatrixX<Traced>::Constant(15, 15, Traced(0));
  Errors::template linearize<Traced>(x, y, g, step, E, U);
  for (int i = 9; i < 15; ++i) U(i, i) = Traced(1);
  const MatrixX<Traced> UQ = U.lazyProduct(step.noise);
  const MatrixX<Traced> Q = UQ.lazyProduct(U.transpose());
  tracer.output("p_next", y.p_WS);
  tracer.output("R_next", dynamic(y.R_WS));
  tracer.output("v_next", y.v_WS);
  tracer.output("E", E);
  tracer.output("Q", Q);
  return tracer.finish();
}

template <typename Errors>
Trace trace_foot_turn() {
  Tracer tracer("foot_turn");
  tracer.output("W",
                dynamic(Errors::template foot_by_rotation<Traced>(vec(tracer.input("foot", 3)))));
  return tracer.finish();
}

template <typename Errors>
Trace trace_measure() {
  Tracer tracer("measure");
  FilterStateOf<Traced> x = state_input(tracer, false, false);
  x.feet = 1;
  x.p_WF[0] = vec(tracer.input("foot", 3));
  const Vec p_SF = vec(tracer.input("p_SF", 3));
  BaseMeasurementOf<Traced> m = foot_position_impl<Traced>(x, 0, p_SF, Mat::Constant(Traced(0)));
  Errors::template to_filter_errors<Traced>(x, m);
  tracer.output("r", m.residual);
  // Blocks of position, rotation and foot.
  MatrixX<Traced> J(3, 9);
  for (int b = 0; b < m.blocks; ++b) {
    const auto& block = m.block[static_cast<std::size_t>(b)];
    const int at = block.index == ErrorIndex::position   ? 0
                   : block.index == ErrorIndex::rotation ? 3
                                                         : 6;
    J.middleCols<3>(at) = block.J;
  }
  tracer.output("J", J);
  return tracer.finish();
}

/// The core, or a foot, moved by an error.
template <typename Errors>
Trace trace_move(bool foot) {
  Tracer tracer(foot ? "move_foot" : "move");
  FilterStateOf<Traced> x;
  VectorX<Traced> error = VectorX<Traced>::Constant(18, Traced(0));
  if (foot) {
    x.feet = 1;
    x.p_WF[0] = vec(tracer.input("foot", 3));
    error.segment<3>(ErrorIndex::rotation) = tracer.input("turn", 3);
    error.segment<3>(ErrorIndex::foot(0)) = tracer.input("d", 3);
  } else {
    x = state_input(tracer, true, true);
    error.head<15>() = tracer.input("d", 15);
  }
  Errors::template retract<Traced>(error, x);
  if (foot) {
    tracer.output("foot_next", x.p_WF[0]);
    return tracer.finish();
  }
  tracer.output("p_next", x.p_WS);
  tracer.output("R_next", dynamic(x.R_WS));
  tracer.output("v_next", x.v_WS);
  tracer.output("gyro_bias_next", x.gyro_bias);
  tracer.output("accel_bias_next", x.accel_bias);
  return tracer.finish();
}

template <typename Errors>
Trace trace_new_foot() {
  Tracer tracer("new_foot");
  const FilterStateOf<Traced> x = state_input(tracer, false, false);
  const Vec p_SF = vec(tracer.input("p_SF", 3));
  const Mat N = mat(tracer.input("N", 9));
  const Vec p_SF_W = x.R_WS * p_SF;
  tracer.output("foot", Vec(x.p_WS + p_SF_W));
  tracer.output("J", dynamic(Errors::template foot_rotation_jacobian<Traced>(x, p_SF_W)));
  const Mat RN = x.R_WS * N;
  tracer.output("N_W", dynamic(RN * x.R_WS.transpose()));
  return tracer.finish();
}

/// Gains of a change of errors per rotation error: of a point, and of the rotation itself.
template <typename Errors>
std::vector<Trace> trace_gains(const Vector3<double>& gravity) {
  std::vector<Trace> traces;
  const auto add = [&](const char* name, auto make) {
    Tracer tracer(name);
    tracer.output("J", dynamic(make(tracer)));
    traces.push_back(tracer.finish());
  };
  if constexpr (!Errors::kCommon) {
    add("from_common", [](Tracer& t) {
      const Mat R = mat(t.input("R", 9));
      return Errors::template from_common_gain<Traced>(R, vec(t.input("arm", 3)));
    });
    add("to_common",
        [](Tracer& t) { return Errors::template to_common_gain<Traced>(vec(t.input("arm", 3))); });
  }
  if constexpr (Errors::kTransformsErrors) {
    const Vector3<double> z = gravity.stableNormalized();
    add("keep_yaw", [&](Tracer& t) {
      const Mat R = mat(t.input("R", 9));
      return Errors::template observability_gain<Traced>(constant(z), R, vec(t.input("shift", 3)));
    });
    add("turned", [](Tracer& t) -> Mat {
      const Mat before = mat(t.input("R", 9)), after = mat(t.input("R_next", 9));
      return after.transpose() * before - Mat::Identity();
    });
  }
  return traces;
}

/// Feet in axes of the sensor, and their noise, from the joints.
Trace trace_legs(const LegKinematics& legs) {
  const Model<double>& model = legs.model();
  const int nq = model.nq(), feet = legs.feet();
  Tracer tracer("legs");
  const VectorX<Traced> given = tracer.input("q", nq);
  const VectorX<Traced> errors = tracer.input("errors", 2);  // encoder, foot_error
  VectorX<Traced> q = given;
  // The base is at the origin of the world, so that the axes of the world are those of B.
  for (int i = 0; i < 7; ++i) q[i] = Traced(i == 6 ? 1.0 : 0.0);
  FunctionOptions options;
  for (int i = 0; i < feet; ++i) options.frames.push_back(legs.frame(i));
  options.axes = FrameAxes::local_world_aligned;
  const Model<Traced> traced = model.cast<Traced>();
  const auto poses = codegen::record(traced, DynamicsFunction::frame_poses, {q}, options);
  const auto jacobians = codegen::record(traced, DynamicsFunction::frame_jacobians, {q}, options);
  const Mat R_SB = constant(Matrix3<double>(legs.X_BS().R.transpose()));
  const Vec p_BS = constant(legs.X_BS().p);
  MatrixX<Traced> p(3, feet), N(9, feet);
  const Traced encoder = errors[0] * errors[0], model_error = errors[1] * errors[1];
  const int nv = model.nv();
  const VectorX<Traced> all_p = Eigen::Map<const VectorX<Traced>>(poses[1].data(), poses[1].size());
  const VectorX<Traced> all_J =
      Eigen::Map<const VectorX<Traced>>(jacobians[0].data(), jacobians[0].size());
  for (int i = 0; i < feet; ++i) {
    p.col(i) = R_SB * (Vec(all_p[3 * i], all_p[3 * i + 1], all_p[3 * i + 2]) - p_BS);
    Mat JJt = Mat::Constant(Traced(0));
    for (int y = 0; y < nv; ++y) {
      if (!legs.leg(i)[static_cast<std::size_t>(y)]) continue;
      const auto at = [&](int r) { return all_J[6 * nv * i + 6 * y + r]; };
      const Vec J = R_SB * Vec(at(0), at(1), at(2));
      JJt += J * J.transpose();
    }
    Mat noise = JJt * encoder;
    for (int k = 0; k < 3; ++k) noise(k, k) += model_error;
    for (int k = 0; k < 9; ++k) N(k, i) = noise(k % 3, k / 3);
  }
  tracer.output("p_SF", p);
  tracer.output("N", N);
  return tracer.finish();
}

/// Pose and velocity of the base from those of the sensor.
Trace trace_base(const LegKinematics& legs) {
  Tracer tracer("base");
  FilterStateOf<Traced> x = state_input(tracer, true, false);
  const Vec w = vec(tracer.input("w", 3));  // rate of the sensor without bias
  const Pose<double> X_SB = legs.X_BS().inverse();
  const Vec arm = constant(X_SB.p);
  tracer.output("p_WB", Vec(x.p_WS + x.R_WS * arm));
  tracer.output("R_WB", dynamic(x.R_WS * constant(X_SB.R)));
  tracer.output("v_WB", Vec(x.v_WS + x.R_WS * w.cross(arm)));
  return tracer.finish();
}

// The parts that are loops. PRE, REAL, FEET, NQ and functions of <math.h> are replaced.

constexpr const char* kHeader = R"(
/* Sensor S in the world W; matrices column by column. Angles rad, lengths m. */
enum { PRE_FEET = FEET, PRE_ERRORS = 15 + 3 * FEET, PRE_NQ = NQ };

typedef struct {
  REAL p[3], R[9], v[3];              /* position, orientation and velocity of S */
  REAL gyro_bias[3], accel_bias[3];
  REAL foot[FEET][3];                 /* positions of the feet in contact */
  unsigned char stands[FEET];
  /* Covariance of the errors of the filter: position, rotation, velocity, biases, feet. */
  REAL P[(15 + 3 * FEET) * (15 + 3 * FEET)];
} PRE_filter;

typedef struct {
  REAL imu[4];        /* densities: gyroscope, accelerometer, random walks of their biases */
  REAL contact;       /* m/sqrt(s), random walk of a foot in contact */
  REAL encoder;       /* rad, noise of joint positions */
  REAL foot_error;    /* m, error of the leg model */
  REAL gate;          /* bound on the normalized innovation squared of a foot; 16.27: 0.999 */
} PRE_noise;

/* deviations: of position, rotation (about axes of S), velocity, gyroscope and accelerometer bias. */
void PRE_filter_init(PRE_filter* f, const REAL p[3], const REAL R[9], const REAL v[3],
                     const REAL gyro_bias[3], const REAL accel_bias[3], const REAL deviations[15]);

/* A sample held for T seconds, 0 < T <= 1. Returns 0, or 1 for another T: nothing has changed. */
int PRE_filter_predict(PRE_filter* f, const PRE_noise* noise, const REAL gyro[3],
                       const REAL accel[3], REAL T);

/* Joint positions and contacts: feet without contact are removed, the others measured, new ones
   added. Entries of the base in q are ignored. Returns the number of feet used. */
int PRE_filter_feet(PRE_filter* f, const PRE_noise* noise, const REAL q[NQ],
                    const unsigned char contact[FEET]);

/* The base B; gyro: the last sample. */
void PRE_filter_base(const PRE_filter* f, const REAL gyro[3], REAL p_WB[3], REAL R_WB[9],
                     REAL v_WB[3]);

/* Covariance of errors p + e, R exp(e), v + e of S, 9 x 9. */
void PRE_filter_covariance(const PRE_filter* f, REAL C[81]);
)";

constexpr const char* kSource = R"(
enum { N_ERRORS = 15 + 3 * FEET };
#define AT(i, j) P[(i) + N_ERRORS * (j)]

/* Rows i of three errors that are in use. */
static int in_use(const PRE_filter* f, int block) {
  return block < 5 || f->stands[block - 5];
}

/* Errors of the blocks (three each) increase by J times the rotation error; J of the rotation
   itself is the last to be applied. `count` blocks from the start, J 3 x 3 each. */
static void transform(REAL* P, int n, int stride, const REAL* J, int count) {
  int b, c, i, k;
  for (c = 0; c < n; ++c) {
    REAL* x = P + stride * c;
    const REAL r[3] = {x[3], x[4], x[5]};
    for (b = 0; b < count; ++b) {
      for (k = 0; k < 3; ++k) {
        for (i = 0; i < 3; ++i) x[3 * b + i] += J[9 * b + 3 * k + i] * r[k];
      }
    }
  }
  for (c = 0; c < n; ++c) {
    const REAL r[3] = {P[c + stride * 3], P[c + stride * 4], P[c + stride * 5]};
    for (b = 0; b < count; ++b) {
      for (k = 0; k < 3; ++k) {
        for (i = 0; i < 3; ++i) P[c + stride * (3 * b + i)] += J[9 * b + 3 * k + i] * r[k];
      }
    }
  }
}

static void mirror(REAL* P) {
  int i, j;
  for (j = 0; j < N_ERRORS; ++j) {
    for (i = j + 1; i < N_ERRORS; ++i) {
      const REAL mean = (AT(i, j) + AT(j, i)) / 2;
      AT(i, j) = AT(j, i) = mean;
    }
  }
}

void PRE_filter_init(PRE_filter* f, const REAL p[3], const REAL R[9], const REAL v[3],
                     const REAL gyro_bias[3], const REAL accel_bias[3], const REAL deviations[15]) {
  REAL* P = f->P;
  int i, k;
  for (i = 0; i < 3; ++i) {
    f->p[i] = p[i];
    f->v[i] = v[i];
    f->gyro_bias[i] = gyro_bias[i];
    f->accel_bias[i] = accel_bias[i];
  }
  for (i = 0; i < 9; ++i) f->R[i] = R[i];
  for (i = 0; i < FEET; ++i) {
    f->stands[i] = 0;
    for (k = 0; k < 3; ++k) f->foot[i][k] = 0;
  }
  for (i = 0; i < N_ERRORS * N_ERRORS; ++i) P[i] = 0;
  for (i = 0; i < 15; ++i) AT(i, i) = deviations[i] * deviations[i];
#if FROM_COMMON
  {
    REAL J[27];
    PRE_from_common(f->R, f->p, J);
    for (i = 0; i < 9; ++i) J[9 + i] = f->R[i] - (i % 4 == 0 ? 1 : 0);
    PRE_from_common(f->R, f->v, J + 18);
    transform(P, N_ERRORS, N_ERRORS, J, 3);
  }
#endif
}

int PRE_filter_predict(PRE_filter* f, const PRE_noise* noise, const REAL gyro[3],
                       const REAL accel[3], REAL T) {
  REAL* P = f->P;
  REAL rate = 0, steps, E[9 * 15], Q[15 * 15], next[15];
  REAL D[N_ERRORS * 15], A[N_ERRORS * N_ERRORS];
  int i, j, k, s, count;
  if (!(T > 0 && T <= 1)) return 1;
  for (i = 0; i < 3; ++i) rate += (gyro[i] - f->gyro_bias[i]) * (gyro[i] - f->gyro_bias[i]);
  /* At most 0.1 rad and 0.1 s per step. */
  steps = SQRT(rate) * T * 10;
  if (steps < T * 10) steps = T * 10;
  if (!(steps < 10000)) steps = 10000;
  count = (int)steps;
  if ((REAL)count < steps) ++count;
  if (count < 1) count = 1;
  T /= (REAL)count;
  for (s = 0; s < count; ++s) {
    REAL step[1];
    step[0] = T;
    PRE_step(f->p, f->R, f->v, f->gyro_bias, f->accel_bias, gyro, accel, step, noise->imu, next,
             next + 3, next + 12, E, Q);
    for (i = 0; i < 3; ++i) f->p[i] = next[i];
    for (i = 0; i < 9; ++i) f->R[i] = next[3 + i];
    for (i = 0; i < 3; ++i) f->v[i] = next[12 + i];
    /* D: increase of all errors per error of the core. */
    for (i = 0; i < N_ERRORS * 15; ++i) D[i] = 0;
    for (j = 0; j < 15; ++j) {
      for (i = 0; i < 9; ++i) D[i + N_ERRORS * j] = E[i + 9 * j];
    }
#if FEET_TURN
    {
      REAL W[FEET][9];
      for (k = 0; k < FEET; ++k) {
        int r;
        if (!f->stands[k]) continue;
        PRE_foot_turn(f->foot[k], W[k]);
        for (j = 0; j < 15; ++j) {
          for (i = 0; i < 3; ++i) {
            for (r = 0; r < 3; ++r) D[15 + 3 * k + i + N_ERRORS * j] += W[k][i + 3 * r] * E[3 + r + 9 * j];
          }
        }
      }
      /* A = D P, for the rows that change; then P += A + A^T + A D^T. */
#else
    {
#endif
      for (j = 0; j < N_ERRORS; ++j) {
        if (!in_use(f, j / 3)) continue;
        for (i = 0; i < N_ERRORS; ++i) A[i + N_ERRORS * j] = 0;
        for (k = 3; k < 15; ++k) {
          const REAL x = AT(k, j);
          for (i = 0; i < N_ERRORS; ++i) A[i + N_ERRORS * j] += D[i + N_ERRORS * k] * x;
        }
      }
      for (j = 0; j < N_ERRORS; ++j) {
        if (!in_use(f, j / 3)) continue;
        for (i = 0; i < N_ERRORS; ++i) {
          REAL x = 0;
          if (!in_use(f, i / 3)) continue;
          for (k = 3; k < 15; ++k) x += A[i + N_ERRORS * k] * D[j + N_ERRORS * k];
          AT(i, j) += x + A[i + N_ERRORS * j] + A[j + N_ERRORS * i];
        }
      }
      for (j = 0; j < 15; ++j) {
        for (i = 0; i < 15; ++i) AT(i, j) += Q[i + 15 * j];
      }
#if FEET_TURN
      /* The noise of the rotation turns the feet. */
      for (k = 0; k < FEET; ++k) {
        REAL X[3 * 15];
        int r, m;
        if (!f->stands[k]) continue;
        for (j = 0; j < 15; ++j) {
          for (i = 0; i < 3; ++i) {
            X[i + 3 * j] = 0;
            for (r = 0; r < 3; ++r) X[i + 3 * j] += W[k][i + 3 * r] * Q[3 + r + 15 * j];
            AT(15 + 3 * k + i, j) += X[i + 3 * j];
            AT(j, 15 + 3 * k + i) += X[i + 3 * j];
          }
        }
        for (m = 0; m < FEET; ++m) {
          if (!f->stands[m]) continue;
          for (j = 0; j < 3; ++j) {
            for (i = 0; i < 3; ++i) {
              REAL x = 0;
              for (r = 0; r < 3; ++r) x += X[i + 3 * (3 + r)] * W[m][j + 3 * r];
              AT(15 + 3 * k + i, 15 + 3 * m + j) += x;
            }
          }
        }
      }
#endif
    }
    for (k = 0; k < FEET; ++k) {
      if (!f->stands[k]) continue;
      for (i = 0; i < 3; ++i) AT(15 + 3 * k + i, 15 + 3 * k + i) += noise->contact * noise->contact * T;
    }
    mirror(P);
  }
  return 0;
}

static void remove_foot(PRE_filter* f, int k) {
  REAL* P = f->P;
  int i, j;
  f->stands[k] = 0;
  for (j = 0; j < N_ERRORS; ++j) {
    for (i = 15 + 3 * k; i < 18 + 3 * k; ++i) AT(i, j) = AT(j, i) = 0;
  }
}

static void add_foot(PRE_filter* f, int k, const REAL p_SF[3], const REAL N[9]) {
  REAL* P = f->P;
  REAL J[9], N_W[9];
  const int at = 15 + 3 * k;
  int c, i, r;
  PRE_new_foot(f->p, f->R, p_SF, N, f->foot[k], J, N_W);
  for (c = 0; c < N_ERRORS; ++c) {
    for (i = 0; i < 3; ++i) {
      REAL x = AT(i, c);
      for (r = 0; r < 3; ++r) x += J[i + 3 * r] * AT(3 + r, c);
      AT(at + i, c) = x;
    }
  }
  for (c = 0; c < N_ERRORS; ++c) {
    for (i = 0; i < 3; ++i) {
      REAL x = AT(c, i);
      for (r = 0; r < 3; ++r) x += J[i + 3 * r] * AT(c, 3 + r);
      AT(c, at + i) = x;
    }
  }
  for (c = 0; c < 3; ++c) {
    for (i = 0; i < 3; ++i) AT(at + i, at + c) += (N_W[i + 3 * c] + N_W[c + 3 * i]) / 2;
  }
  f->stands[k] = 1;
}

/* X = P H^T for the rows of P in use; S = H X + N. H: blocks of position, rotation and foot. */
static void project(const PRE_filter* f, const REAL* P, int k, const REAL J[27], REAL X[3 * N_ERRORS]) {
  int i, r, c;
  for (r = 0; r < 3; ++r) {
    for (i = 0; i < N_ERRORS; ++i) {
      REAL x = 0;
      if (in_use(f, i / 3)) {
        for (c = 0; c < 3; ++c) {
          x += AT(i, c) * J[r + 3 * c] + AT(i, 3 + c) * J[r + 3 * (3 + c)] +
               AT(i, 15 + 3 * k + c) * J[r + 3 * (6 + c)];
        }
      }
      X[i + N_ERRORS * r] = x;
    }
  }
}

/* L with S = L L^T. Returns 0 if S is not positive definite. */
static int factorize(const REAL X[3 * N_ERRORS], int k, const REAL J[27], const REAL N[9], REAL L[9]) {
  int i, j, c, r;
  for (j = 0; j < 3; ++j) {
    for (i = j; i < 3; ++i) {
      REAL s = (N[i + 3 * j] + N[j + 3 * i]) / 2;
      for (c = 0; c < 3; ++c) {
        s += J[i + 3 * c] * X[c + N_ERRORS * j] + J[i + 3 * (3 + c)] * X[3 + c + N_ERRORS * j] +
             J[i + 3 * (6 + c)] * X[15 + 3 * k + c + N_ERRORS * j];
      }
      for (r = 0; r < j; ++r) s -= L[i + 3 * r] * L[j + 3 * r];
      if (i == j) {
        if (!(s > 0)) return 0;
        L[i + 3 * i] = SQRT(s);
      } else {
        L[i + 3 * j] = s / L[j + 3 * j];
      }
    }
  }
  return 1;
}

int PRE_filter_feet(PRE_filter* f, const PRE_noise* noise, const REAL q[NQ],
                    const unsigned char contact[FEET]) {
  REAL* P = f->P;
  REAL p_SF[3 * FEET], N[9 * FEET], errors[2], r[FEET][3], J[FEET][27], d[N_ERRORS];
  REAL X[3 * N_ERRORS], K[3 * N_ERRORS], L[9];
  unsigned char use[FEET];
  int i, j, k, c, used = 0;
  errors[0] = noise->encoder;
  errors[1] = noise->foot_error;
  PRE_legs(q, errors, p_SF, N);
  for (k = 0; k < FEET; ++k) {
    if (f->stands[k] && !contact[k]) remove_foot(f, k);
  }
  for (i = 0; i < N_ERRORS; ++i) d[i] = 0;
  for (k = 0; k < FEET; ++k) {
    REAL y[3], nis;
    use[k] = 0;
    if (!f->stands[k]) continue;
    PRE_measure(f->p, f->R, f->foot[k], p_SF + 3 * k, r[k], J[k]);
    project(f, P, k, J[k], X);
    if (!factorize(X, k, J[k], N + 9 * k, L)) continue;
    y[0] = r[k][0] / L[0];
    y[1] = (r[k][1] - L[1] * y[0]) / L[4];
    y[2] = (r[k][2] - L[2] * y[0] - L[5] * y[1]) / L[8];
    nis = y[0] * y[0] + y[1] * y[1] + y[2] * y[2];
    use[k] = nis <= noise->gate;
  }
  for (k = 0; k < FEET; ++k) {
    REAL e[3];
    if (!use[k]) continue;
    /* One foot after the other, all linearized at the same state: the same as all at once. */
    for (i = 0; i < 3; ++i) {
      e[i] = r[k][i];
      for (c = 0; c < 3; ++c) {
        e[i] -= J[k][i + 3 * c] * d[c] + J[k][i + 3 * (3 + c)] * d[3 + c] +
                J[k][i + 3 * (6 + c)] * d[15 + 3 * k + c];
      }
    }
    project(f, P, k, J[k], X);
    if (!factorize(X, k, J[k], N + 9 * k, L)) continue;
    ++used;
    for (i = 0; i < N_ERRORS; ++i) {
      const REAL a = X[i] / L[0], b = (X[i + N_ERRORS] - L[1] * a) / L[4];
      const REAL g = (X[i + 2 * N_ERRORS] - L[2] * a - L[5] * b) / L[8];
      const REAL z = g / L[8], y = (b - L[5] * z) / L[4];
      K[i] = (a - L[1] * y - L[2] * z) / L[0];
      K[i + N_ERRORS] = y;
      K[i + 2 * N_ERRORS] = z;
      d[i] += K[i] * e[0] + y * e[1] + z * e[2];
    }
    /* Joseph form: B = P - K X^T, then B + (K N - B H^T) K^T. */
    for (j = 0; j < N_ERRORS; ++j) {
      if (!in_use(f, j / 3)) continue;
      for (i = 0; i < N_ERRORS; ++i) {
        AT(i, j) -= K[i] * X[j] + K[i + N_ERRORS] * X[j + N_ERRORS] +
                    K[i + 2 * N_ERRORS] * X[j + 2 * N_ERRORS];
      }
    }
    project(f, P, k, J[k], X);
    for (i = 0; i < N_ERRORS; ++i) {
      REAL x[3];
      for (c = 0; c < 3; ++c) {
        x[c] = K[i] * N[9 * k + 3 * c] + K[i + N_ERRORS] * N[9 * k + 3 * c + 1] +
               K[i + 2 * N_ERRORS] * N[9 * k + 3 * c + 2] - X[i + N_ERRORS * c];
      }
      for (c = 0; c < 3; ++c) X[i + N_ERRORS * c] = x[c];
    }
    for (j = 0; j < N_ERRORS; ++j) {
      if (!in_use(f, j / 3)) continue;
      for (i = 0; i < N_ERRORS; ++i) {
        AT(i, j) += X[i] * K[j] + X[i + N_ERRORS] * K[j + N_ERRORS] +
                    X[i + 2 * N_ERRORS] * K[j + 2 * N_ERRORS];
      }
    }
    mirror(P);
  }
  if (used > 0) {
    REAL next[21], foot[3];
#if KEEP_YAW
    REAL gain[9 * (5 + FEET)], shift[3];
    for (i = 0; i < 9 * (5 + FEET); ++i) gain[i] = 0;
#endif
    PRE_move(f->p, f->R, f->v, f->gyro_bias, f->accel_bias, d, next, next + 3, next + 12,
             next + 15, next + 18);
    for (k = 0; k < FEET; ++k) {
      if (!f->stands[k]) continue;
      PRE_move_foot(f->foot[k], d + 3, d + 15 + 3 * k, foot);
#if KEEP_YAW
      for (i = 0; i < 3; ++i) shift[i] = foot[i] - f->foot[k][i];
      PRE_keep_yaw(f->R, shift, gain + 9 * (5 + k));
#endif
      for (i = 0; i < 3; ++i) f->foot[k][i] = foot[i];
    }
#if KEEP_YAW
    for (i = 0; i < 3; ++i) shift[i] = next[i] - f->p[i];
    PRE_keep_yaw(f->R, shift, gain);
    PRE_turned(f->R, next + 3, gain + 9);
    for (i = 0; i < 3; ++i) shift[i] = next[12 + i] - f->v[i];
    PRE_keep_yaw(f->R, shift, gain + 18);
    transform(P, N_ERRORS, N_ERRORS, gain, 5 + FEET);
#endif
    for (i = 0; i < 3; ++i) {
      f->p[i] = next[i];
      f->v[i] = next[12 + i];
      f->gyro_bias[i] = next[15 + i];
      f->accel_bias[i] = next[18 + i];
    }
    for (i = 0; i < 9; ++i) f->R[i] = next[3 + i];
  }
  for (k = 0; k < FEET; ++k) {
    if (contact[k] && !f->stands[k]) add_foot(f, k, p_SF + 3 * k, N + 9 * k);
  }
  return used;
}

void PRE_filter_base(const PRE_filter* f, const REAL gyro[3], REAL p_WB[3], REAL R_WB[9],
                     REAL v_WB[3]) {
  REAL w[3];
  int i;
  for (i = 0; i < 3; ++i) w[i] = gyro[i] - f->gyro_bias[i];
  PRE_base(f->p, f->R, f->v, w, p_WB, R_WB, v_WB);
}

void PRE_filter_covariance(const PRE_filter* f, REAL C[81]) {
  const REAL* P = f->P;
  int i, j;
  for (j = 0; j < 9; ++j) {
    for (i = 0; i < 9; ++i) C[i + 9 * j] = AT(i, j);
  }
#if FROM_COMMON
  {
    REAL J[27];
    PRE_to_common(f->p, J);
    for (j = 0; j < 3; ++j) {
      for (i = 0; i < 3; ++i) J[9 + i + 3 * j] = f->R[j + 3 * i] - (i == j ? 1 : 0);
    }
    PRE_to_common(f->v, J + 18);
    transform(C, 9, 9, J, 3);
  }
#endif
}
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

template <typename Errors>
std::vector<Trace> record_steps(const LegKinematics& legs) {
  const Vector3<double> gravity = legs.model().gravity();
  std::vector<Trace> traces;
  traces.push_back(trace_step<Errors>(gravity));
  if (Errors::kFeetTurn) traces.push_back(trace_foot_turn<Errors>());
  traces.push_back(trace_measure<Errors>());
  traces.push_back(trace_move<Errors>(false));
  traces.push_back(trace_move<Errors>(true));
  traces.push_back(trace_new_foot<Errors>());
  for (Trace& trace : trace_gains<Errors>(gravity)) traces.push_back(std::move(trace));
  traces.push_back(trace_legs(legs));
  traces.push_back(trace_base(legs));
  return traces;
}

}  // namespace

codegen::CPackage make_c_filter(const LegKinematics& legs, const CFilterOptions& options) {
  if (legs.imu_moves()) {
    fail("make_c_filter", "imu", "on a link that joints move", "a frame that is fixed to the base");
  }
  const bool invariant = options.filter == FilterKind::invariant;
  const std::vector<Trace> traces =
      invariant ? record_steps<InvariantErrors>(legs) : record_steps<PartErrors>(legs);
  const std::string prefix = codegen::c_identifier(options.prefix);
  const bool f32 = options.precision == codegen::Precision::f32;
  const auto fill = [&](std::string text) {
    text = replaced(text, "PRE_", prefix + "_");
    text = replaced(text, "REAL", codegen::c_type(options.precision));
    text = replaced(text, "SQRT", f32 ? "sqrtf" : "sqrt");
    text = replaced(text, "#if FEET_TURN", invariant ? "#if 1" : "#if 0");
    text = replaced(text, "#if FROM_COMMON", invariant ? "#if 1" : "#if 0");
    text = replaced(text, "#if KEEP_YAW", invariant ? "#if 0" : "#if 1");
    text = replaced(text, "NQ]", std::to_string(legs.model().nq()) + "]");
    text = replaced(text, "= NQ ", "= " + std::to_string(legs.model().nq()) + " ");
    // FEET, but not the enumerator PREFIX_FEET.
    text = replaced(text, "_FEET =", "_FOOT_COUNT =");
    text = replaced(text, "FEET", std::to_string(legs.feet()));
    return replaced(text, "_FOOT_COUNT =", "_FEET =");
  };
  const std::string head = codegen::c_comment(options.comment);
  std::string guard = prefix + "_FILTER_H";
  for (char& c : guard) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  codegen::CPackage package;
  package.files.push_back(
      {prefix + "_filter.h",
       head +
           fmt::format("#ifndef {0}\n#define {0}\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n",
                       guard) +
           fill(kHeader) + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n"});
  std::string source =
      head + fmt::format("#include \"{}_filter.h\"\n\n#include <math.h>\n", prefix);
  std::size_t scratch = 0;
  for (const Trace& trace : traces) {
    const codegen::CSource function = codegen::emit_c(trace, prefix, options.precision);
    source += fmt::format("\n/* {} operations. */\nstatic {}", function.operations, function.text);
    scratch = std::max(scratch, function.scratch_bytes);
  }
  package.files.push_back({prefix + "_filter.c", source + fill(kSource)});
  // The largest caller has P, D and a step of the core as local arrays.
  const std::size_t n = static_cast<std::size_t>(15 + 3 * legs.feet());
  package.stack_bytes = (scratch + (n * n + 15 * n + 400) * (f32 ? 4 : 8)) * 3 / 2 + 256;
  return package;
}

}  // namespace limb
