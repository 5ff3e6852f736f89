#pragma once

#include <span>
#include <vector>

#include "limb/math/scalar.hpp"

namespace limb {

/// Impulses p of contacts with Coulomb friction and of bounded rows, in one problem:
///
///   u = A p + b                                   velocities after the step, minus their targets
///   contact  (n, t1, t2):  p_n >= 0, u_n >= 0, p_n u_n = 0,  |p_t| <= mu p_n,
///                          and p_t = -mu p_n u_t / |u_t| if it slides
///   row:                   lower <= p <= upper; u = 0 between, u >= 0 at lower, u <= 0 at upper
///   spin of a contact:     |m| <= r p_n, and m = -r p_n w / |w| if it turns; w is its part of u
///   and
///                          m of p, one row (about the normal) or two (about the tangents)
///
/// The friction cone is the exact second-order cone. A is symmetric and may be singular: redundant
/// contacts are common. Sweeps over the contacts, each solved exactly with the others fixed (block
/// Gauss-Seidel), alternate with steps of Newton's method on the equations of Alart and Curnier
/// [Alart 1991, mixed formulation]; docs/adr/0011-contact.md describes which parts are convex.
/// Allocates only when a problem is larger than all before. Deterministic: the same problem and
/// start give the same bits.
class ConeSolver {
 public:
  struct Options {
    double tolerance = 1e-10;  ///< m/s, of the residual
    /// m/s; accepted residual if slightly inconsistent redundant contacts prevent the tolerance.
    double acceptable = 1e-6;
    int max_proximal_steps = 400;  ///< where sweeps and Newton's method cycle
    // In all, of one solve: they bound its time. Nearly all solves need less than a tenth.
    int max_sweeps = 10000, max_newton_steps = 400;
  };
  struct Report {
    int sweeps = 0, newton_steps = 0;
    double residual = 0;  ///< m/s: violation of the law by p and u
    /// False: the exact law has no solution, or none was found within the limits. p is then the
    /// best one found: inside the cones, and without adding energy.
    bool converged = true;
  };

  /// Torsional or rolling friction of a contact: the bound of its moment, per normal force.
  struct Spin {
    int contact, rows;  ///< rows: 1 or 2
    double radius;      ///< m
  };

  /// Contacts come first, three rows each, then the bounded rows, then those of the spins in order
  /// of their contacts. The values of p are lost.
  void resize(int contacts, int rows, std::span<const Spin> spins = {});
  int contacts() const { return contacts_; }
  int size() const { return n_; }

  // The problem. Only the leading size() rows and columns are used.
  MatrixX<double> A;             ///< both triangles
  VectorX<double> b;             ///< see above
  VectorX<double> p;             ///< initial guess, and result
  VectorX<double> mu;            ///< of each contact
  VectorX<double> lower, upper;  ///< of each bounded row

  Report solve(const Options& options);
  /// A p + b of the last solve.
  const VectorX<double>& velocity() const { return u_; }

 private:
  /// A single contact: W = A of its rows; the Schur complement of its tangential part in principal
  /// axes.
  struct Block {
    double W_nn = 0, W_n1 = 0, W_n2 = 0;
    double sigma[2] = {}, cosine = 1, sine = 0;
    double rho_n = 0, rho_t = 0;  ///< impulse per velocity; 0: no motion in this direction
    double slip = 0;              ///< last multiplier of sliding
    int first_spin = 0, spins = 0;
    int column = 0;  ///< of the normal impulse in Newton's matrix
  };
  struct SpinRows {
    Spin spin;
    int row;
    double rho;  ///< as of a contact
  };
  void prepare();
  void solve_contact(int c, const double* b_local, double* p_local);
  void sweep();
  void sweep_rows();
  void sweep_spins();
  double disc_violation(int i, int rows, double rho, double bound) const;
  void project_disc(int i, int rows, double bound);
  double spin_bound(const SpinRows& spin) const {
    return spin.spin.radius * p[3 * spin.spin.contact];
  }
  double residual();
  double violation() const;
  void keep_best(double now, Report& report);
  void fix(int i, double to);
  void gather_row(int k, double x, int i, double y, int j);
  void disc_rows(int k, int i, int rows, double rho, double coefficient, int contact);
  bool newton_step();
  /// Choice of pivots in Gaussian elimination.
  enum class Pivoting { none, rows };
  bool eliminate(int n, Pivoting pivoting);
  bool all_stick() const;
  double rho_of(int i) const;
  bool add_step(int m);
  void refine_by_newton(double from, const Options& options, Report& report);
  void factorize_response();
  void velocities_of(const VectorX<double>& impulses, VectorX<double>& w) const;
  double proximal_argument(int i, const VectorX<double>& w) const;
  struct Projection;
  Projection project_contact(int c, const VectorX<double>& w) const;
  double dual(const VectorX<double>& w);
  void dual_hessian(const VectorX<double>& w);
  void solve_hessian();
  bool proximal_point(const Options& options, Report& report);
  void update_slip(bool first, double& stride);
  void solve_proximal(const Options& options, Report& report);
  void limit_energy();

  int contacts_ = 0, rows_ = 0, n_ = 0;
  std::vector<Block> blocks_;
  enum class Branch : char { separated, normal, stick };  ///< normal: without tangential impulse
  std::vector<Branch> branch_;  ///< of each contact, in a step of Newton's method
  std::vector<int> free_;       ///< rows of the unknowns of that step
  std::vector<SpinRows> spins_;
  VectorX<double> rho_;   ///< of bounded rows
  bool is_best_ = false;  ///< p is best_, and u its velocity
  VectorX<double> u_, best_, swept_, proximal_center_, step_, slip_;
  MatrixX<double> K_;  ///< Newton's matrix of the free rows: K_.col(k) is row k
  MatrixX<double> factor_;
  // Proximal point method: A = G G^T, G_.col(i) is row i of G; velocities w; weights e.
  MatrixX<double> G_;
  int rank_ = 0;
  VectorX<double> w_, trial_, scratch_, proximal_weight_, slip_change_;
};

}  // namespace limb
