// Pinocchio's generated code: its templates recorded by CppAD, written as C by CppADCodeGen,
// compiled with gcc at -O3 -march=native and loaded. The same interface as the other opponents;
// only the generated code and the copy of its arguments into one array are timed.
#include <cppad/cg.hpp>
// After CppAD.
#include <dlfcn.h>

#include <filesystem>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/codegen/cppadcg.hpp>
#include <stdexcept>

#include "model.hpp"

namespace opponent {
namespace {

using Recorded = CppAD::cg::CG<double>;
using Scalar = CppAD::AD<Recorded>;
using Model = pinocchio::ModelTpl<Scalar>;
using Data = pinocchio::DataTpl<Scalar>;
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
using pinocchio::Convention;

/// A generated function: y(x).
class Generated {
 public:
  template <typename Call>
  Generated(const std::string& name, int arguments, const Call& call) {
    Vector x = Vector::Zero(arguments), y;
    CppAD::Independent(x);
    call(x, y);
    CppAD::ADFun<Recorded> function(x, y);
    function.optimize("no_compare_op");
    CppAD::cg::ModelCSourceGen<double> source(function, name);
    source.setCreateForwardZero(true);
    CppAD::cg::ModelLibraryCSourceGen<double> library(source);
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("limb_bench_codegen_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    const std::string file = (folder / name).string();
    CppAD::cg::DynamicModelLibraryProcessor<double> processor(library, file);
    CppAD::cg::GccCompiler<double> gcc("/usr/bin/gcc");
    gcc.setCompileFlags({"-O3", "-march=native", "-fPIC"});
    gcc.setTemporaryFolder((folder / "objects").string());
    processor.createDynamicLibrary(gcc, false);
    library_ = dlopen((file + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    std::filesystem::remove_all(folder);
    if (library_ == nullptr) throw std::runtime_error(dlerror());
    run_ = reinterpret_cast<Function>(dlsym(library_, (name + "_forward_zero").c_str()));
    if (run_ == nullptr) throw std::runtime_error(dlerror());
    x_.resize(static_cast<std::size_t>(arguments));
  }
  ~Generated() { dlclose(library_); }
  Generated(const Generated&) = delete;
  Generated& operator=(const Generated&) = delete;

  void run(std::initializer_list<std::pair<const double*, int>> arguments, double* y) {
    double* to = x_.data();
    for (const auto& [from, size] : arguments) to = std::copy(from, from + size, to);
    const double* in[] = {x_.data()};
    double* out[] = {y};
    run_(in, out, {});
  }

 private:
  using Function = void (*)(const double* const*, double* const*, LangCAtomicFun);
  void* library_ = nullptr;
  Function run_ = nullptr;
  std::vector<double> x_;
};

struct GeneratedRobot {
  explicit GeneratedRobot(const pinocchio::Model& plain)
      : nq(plain.nq),
        nv(plain.nv),
        model(plain.cast<Scalar>()),
        data(model),
        rnea("rnea", nq + 2 * nv,
             [&](const Vector& x, Vector& y) {
               const Vector q = x.head(nq), v = x.segment(nq, nv), a = x.tail(nv);
               y = pinocchio::rnea(model, data, q, v, a);
             }),
        crba("crba", nq,
             [&](const Vector& x, Vector& y) {
               // As Pinocchio's CodeGenCRBA: the upper triangle.
               pinocchio::crba(model, data, x, Convention::WORLD);
               y.resize(nv * (nv + 1) / 2);
               for (int i = 0, k = 0; i < nv; ++i) {
                 for (int j = i; j < nv; ++j) y[k++] = data.M(i, j);
               }
             }),
        aba("aba", nq + 2 * nv,
            [&](const Vector& x, Vector& y) {
              const Vector q = x.head(nq), v = x.segment(nq, nv), tau = x.tail(nv);
              y = pinocchio::aba(model, data, q, v, tau, Convention::LOCAL);
            }),
        triangle(static_cast<std::size_t>(nv * (nv + 1) / 2)) {}

  int nq, nv;
  Model model;
  Data data;
  Generated rnea, crba, aba;
  std::vector<double> triangle;
};

GeneratedRobot& of(void* robot) {
  return *static_cast<GeneratedRobot*>(robot);
}

void* make(const OpponentBody* bodies, int count, const double gravity[3]) {
  return new GeneratedRobot(model_of(bodies, count, gravity));
}
void release(void* robot) {
  delete static_cast<GeneratedRobot*>(robot);
}
void rnea(void* robot, const double* q, const double* v, const double* a, double* tau) {
  GeneratedRobot& r = of(robot);
  r.rnea.run({{q, r.nq}, {v, r.nv}, {a, r.nv}}, tau);
}
void crba(void* robot, const double* q, double* M) {
  GeneratedRobot& r = of(robot);
  r.crba.run({{q, r.nq}}, r.triangle.data());
  if (M == nullptr) return;
  for (int i = 0, k = 0; i < r.nv; ++i) {
    for (int j = i; j < r.nv; ++j) M[j * r.nv + i] = r.triangle[static_cast<std::size_t>(k++)];
  }
}
void aba(void* robot, const double* q, const double* v, const double* tau, double* a) {
  GeneratedRobot& r = of(robot);
  r.aba.run({{q, r.nq}, {v, r.nv}, {tau, r.nv}}, a);
}

}  // namespace
}  // namespace opponent

extern "C" __attribute__((visibility("default"))) const OpponentTable* opponent_entry_point() {
  static const OpponentTable table = {OPPONENT_BUILD, opponent::make, opponent::release,
                                      opponent::rnea, opponent::crba, opponent::aba,
                                      nullptr,        nullptr};
  return &table;
}
