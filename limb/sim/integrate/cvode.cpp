#include "limb/sim/integrate/cvode.hpp"

#include <cvode/cvode.h>
#include <fmt/format.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <cstdlib>
#include <exception>

#include "limb/sim/integrate/step_end.hpp"

namespace limb {
namespace {

using Map = Eigen::Map<VectorX<double>>;

/// rad; the rate of the tangent is singular at a full turn.
constexpr double kLargestTurn = 2;

std::string name_of(int flag) {
  const std::unique_ptr<char, decltype(&std::free)> name(CVodeGetReturnFlagName(flag), &std::free);
  return name.get();
}

void check_call(int flag, const char* call) {
  if (flag >= 0) return;
  fail_computation("Cvode", fmt::format("{} returned {}", call, name_of(flag)));
}

/// Errors become exceptions; CVODE does not print them.
void ignore_message(int, const char*, const char*, char*, void*) {}

}  // namespace

// Symbols: y = (u, v, x), q = q0 moved by u.
struct Cvode::Memory {
  Memory(const ConfigurationSpace<double>& s, int extra_states,
         const IntegratorOptions<double>& given)
      : space(s), n(s.nv()), extra(extra_states), options(given), u(n), du(n), a(n) {
    const long size = 2 * n + extra;
    dx.resize(extra);
    now.q = start.q = VectorX<double>::Zero(space.nq());
    now.v = VectorX<double>::Zero(n);
    now.x = VectorX<double>::Zero(extra);
    end = start = now;
    if (SUNContext_Create(nullptr, &context) != 0) {
      fail_computation("Cvode", "SUNContext_Create failed");
    }
    y = N_VNew_Serial(std::max(size, 1L), context);
    interpolated = N_VClone(y);
    N_VConst(0, y);
    matrix = SUNDenseMatrix(std::max(size, 1L), std::max(size, 1L), context);
    solver = SUNLinSol_Dense(y, matrix, context);
    cvode = CVodeCreate(CV_BDF, context);
    if (y == nullptr || interpolated == nullptr || matrix == nullptr || solver == nullptr ||
        cvode == nullptr) {
      fail_computation("Cvode", "out of memory");
    }
    check_call(CVodeSetErrHandlerFn(cvode, ignore_message, nullptr), "CVodeSetErrHandlerFn");
    check_call(CVodeInit(cvode, &Memory::rates, 0, y), "CVodeInit");
    check_call(CVodeSetUserData(cvode, this), "CVodeSetUserData");
    check_call(CVodeWFtolerances(cvode, &Memory::weights), "CVodeWFtolerances");
    check_call(CVodeSetLinearSolver(cvode, solver, matrix), "CVodeSetLinearSolver");
    check_call(CVodeSetJacFn(cvode, &Memory::jacobian), "CVodeSetJacFn");
    check_call(CVodeSetMaxStep(cvode, options.step), "CVodeSetMaxStep");
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    CVodeFree(&cvode);
    SUNLinSolFree(solver);
    SUNMatDestroy(matrix);
    N_VDestroy(interpolated);
    N_VDestroy(y);
    SUNContext_Free(&context);
  }

  double* data(N_Vector vector) const { return N_VGetArrayPointer(vector); }

  /// Converts y into the state `s`, except the time.
  void read(N_Vector vector, RobotState<double>& s) {
    const double* x = data(vector);
    u = Eigen::Map<const VectorX<double>>(x, n);
    space.move(start.q, u, s.q);
    s.v = Eigen::Map<const VectorX<double>>(x + n, n);
    s.x = Eigen::Map<const VectorX<double>>(x + 2 * n, extra);
  }

  /// Whether a state is that after the last step, up to the projection onto closed loops: a change
  /// below the error of a few steps. Integration then continues from the unprojected state.
  bool is_near_end(const RobotState<double>& s) const {
    constexpr double kSteps = 10;
    const double absolute = kSteps * options.absolute_tolerance,
                 relative = kSteps * options.relative_tolerance;
    return s.t == end.t && s.x == end.x &&
           (s.q - end.q).lpNorm<Eigen::Infinity>() <= absolute + relative &&
           ((s.v - end.v).array().abs() <= absolute + relative * end.v.array().abs()).all();
  }

  static int rates(double t, N_Vector y, N_Vector rate, void* self) {
    Memory& m = *static_cast<Memory*>(self);
    try {
      m.read(y, m.now);
      m.now.t = t;
      m.equation->rates(m.now, m.a, m.dx);
      m.space.rate(m.u, m.now.v, m.du);
    } catch (...) {
      m.thrown = std::current_exception();
      return -1;
    }
    ++m.evaluations;
    double* out = m.data(rate);
    Map(out, m.n) = m.du;
    Map(out + m.n, m.n) = m.a;
    Map(out + 2 * m.n, m.extra) = m.dx;
    // 1: recoverable, a shorter step may stay finite.
    return std::isfinite(m.du.sum() + m.a.sum() + m.dx.sum()) ? 0 : 1;
  }

  /// By finite differences, like the default of CVODE, which allocates.
  static int jacobian(double t, N_Vector y, N_Vector rate, SUNMatrix J, void* self,
                      N_Vector scratch, N_Vector, N_Vector) {
    const Memory& m = *static_cast<Memory*>(self);
    double* x = m.data(y);
    const double *before = m.data(rate), *after = m.data(scratch);
    for (long j = 0; j < 2 * m.n + m.extra; ++j) {
      const double kept = x[j], step = std::sqrt(epsilon<double>()) * (1 + std::abs(kept));
      x[j] = kept + step;
      const int flag = rates(t, y, scratch, self);
      x[j] = kept;
      if (flag != 0) return flag;
      double* column = SM_COLUMN_D(J, j);
      for (long i = 0; i < 2 * m.n + m.extra; ++i) column[i] = (after[i] - before[i]) / step;
    }
    return 0;
  }

  /// Positions have the scale 1, as in DormandPrince.
  static int weights(N_Vector y, N_Vector weight, void* self) {
    const Memory& m = *static_cast<Memory*>(self);
    const double *x = m.data(y), absolute = m.options.absolute_tolerance,
                 relative = m.options.relative_tolerance;
    double* out = m.data(weight);
    for (long i = 0; i < 2 * m.n + m.extra; ++i) {
      out[i] = 1 / (absolute + relative * (i < m.n ? 1 : std::abs(x[i])));
    }
    return 0;
  }

  ConfigurationSpace<double> space;
  long n, extra;
  IntegratorOptions<double> options;
  SUNContext context = nullptr;
  N_Vector y = nullptr, interpolated = nullptr;
  SUNMatrix matrix = nullptr;
  SUNLinearSolver solver = nullptr;
  void* cvode = nullptr;
  Equation<double>* equation = nullptr;
  std::exception_ptr thrown;
  RobotState<double> start, now, end;  ///< origin; being evaluated; after the last step
  VectorX<double> u, du, a, dx;
  bool continues = false;
  long evaluations = 0;
};

bool Cvode::is_available() {
  return true;
}

Cvode::Cvode(const ConfigurationSpace<double>& space, int extra,
             const IntegratorOptions<double>& options) {
  check_positive("Cvode", "step", options.step);
  check_positive("Cvode", "absolute_tolerance", options.absolute_tolerance);
  check_not_negative("Cvode", "relative_tolerance", options.relative_tolerance);
  memory_ = std::make_unique<Memory>(space, extra, options);
}

Cvode::~Cvode() = default;

void Cvode::reset() {
  memory_->continues = false;
}

long Cvode::evaluations() const {
  return memory_->evaluations;
}

void Cvode::advance(Equation<double>& equation, RobotState<double>& s, const double& t_end) {
  Memory& m = *memory_;
  const bool same = m.continues && m.equation == &equation && m.is_near_end(s);
  m.equation = &equation;
  if (!same) {
    copy_state(s, m.start);
    double* y = m.data(m.y);
    Map(y, m.n).setZero();
    Map(y + m.n, m.n) = s.v;
    Map(y + 2 * m.n, m.extra) = s.x;
    check_call(CVodeReInit(m.cvode, s.t, m.y), "CVodeReInit");
  }
  m.continues = false;
  check_call(CVodeSetStopTime(m.cvode, t_end), "CVodeSetStopTime");
  double t = s.t;
  m.thrown = nullptr;
  const int flag = CVode(m.cvode, t_end, m.y, &t, CV_ONE_STEP);
  if (m.thrown != nullptr) std::rethrow_exception(std::exchange(m.thrown, nullptr));
  switch (flag) {
    case CV_SUCCESS:
    case CV_TSTOP_RETURN:
      break;
    case CV_TOO_CLOSE: {  // too short for CVODE: the state does not change
      s.t = t_end;
      return;
    }
    case CV_FIRST_RHSFUNC_ERR:
    case CV_REPTD_RHSFUNC_ERR:
    case CV_UNREC_RHSFUNC_ERR:
      fail_motion("cvode", s.t);
    default:
      fail_step("cvode", s.t, fmt::format("CVODE found no step ({})", name_of(flag)));
  }
  m.read(m.y, m.end);
  m.end.t = t;
  if (!is_finite(m.end)) fail_motion("cvode", s.t);
  copy_state(m.end, s);
  m.continues = m.space.largest_turn(m.u) < kLargestTurn;
}

void Cvode::state_at(const double& t, RobotState<double>& s) {
  Memory& m = *memory_;
  // The interpolating polynomial of the last step.
  check_call(CVodeGetDky(m.cvode, t, 0, m.interpolated), "CVodeGetDky");
  m.read(m.interpolated, s);
  s.t = t;
}

}  // namespace limb
