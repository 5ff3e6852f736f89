#pragma once

#include <vector>

#include "limb/math/scalar.hpp"

namespace limb {

/// Impulses p of contacts with Coulomb friction and of bounded rows, all in one problem:
///
///   u = A p + b                                   velocities after the step, less what is wanted
///   contact  (n, t1, t2):  p_n >= 0, u_n >= 0, p_n u_n = 0,  |p_t| <= mu p_n,
///                          and p_t = -mu p_n u_t / |u_t| where it slides
///   row:                   lower <= p <= upper; u = 0 between, u >= 0 at lower, u <= 0 at upper
///
/// The friction cone is the exact one of second order. A is symmetric and may be singular:
/// redundant contacts are normal. Sweeps over the contacts, each solved exactly against the others
/// (block Gauss-Seidel), alternate with steps of Newton's method on the equations of Alart and
/// Curnier [Alart 1991, mixed formulation]; docs/adr/0011-contact.md says what of this is convex.
/// Memory grows to the largest problem seen; nothing else allocates. The same problem and start
/// give the same bits.
class ConeSolver {
 public:
  struct Options {
    double tolerance = 1e-10;  ///< m/s, of the residual
    /// m/s; enough where redundant contacts that do not quite agree stand against the tolerance.
    double enough = 1e-6;
    int max_points = 400;  ///< proximal points, where sweeps and Newton's method go in circles
  };
  struct Report {
    int sweeps = 0, newton_steps = 0;
    double residual = 0;  ///< m/s: how far p and u were from the law
    /// Not: the exact law has no solution, or none was found in time. p is then the nearest one
    /// that was found: in the cones, and without energy added.
    bool converged = true;
  };

  /// Contacts come first, three rows each, then the bounded rows. p keeps no value.
  void resize(int contacts, int rows);
  int contacts() const { return contacts_; }
  int size() const { return n_; }

  // The problem. Only the leading size() rows and columns count.
  MatrixX<double> A;             ///< both triangles
  VectorX<double> b;             ///< as above
  VectorX<double> p;             ///< start, and result
  VectorX<double> mu;            ///< of each contact
  VectorX<double> lower, upper;  ///< of each bounded row

  Report solve(const Options& options);
  /// A p + b of the last solve.
  const VectorX<double>& velocity() const { return u_; }

 private:
  /// One contact alone: W = A of its rows, its tangential part without the normal one in its
  /// principal axes.
  struct Block {
    double W_nn = 0, W_n1 = 0, W_n2 = 0;
    double sigma[2] = {}, cosine = 1, sine = 0;
    double rho_n = 0, rho_t = 0;  ///< impulse for a velocity; 0: nothing moves there
    double slip = 0;              ///< last multiplier of sliding
  };
  void prepare();
  void solve_contact(int c, const double* b_local, double* p_local);
  void sweep();
  void sweep_rows();
  double residual();
  double times_p(int i) const;
  void note(double now, Report& report);
  void velocity_row(int i, double rho);
  void fixed_row(int i, double to);
  void newton_rows();
  bool newton_step();
  bool eliminate(int n);
  void polish(double from, const Options& options, Report& report);
  // cone_solver_proximal.cpp
  void factorize_response();
  void velocities_of(const VectorX<double>& impulses, VectorX<double>& w) const;
  void shifted(int c, const VectorX<double>& w, double* z) const;
  double shifted_row(int r, const VectorX<double>& w) const;
  double dual(const VectorX<double>& w);
  void dual_hessian(const VectorX<double>& w);
  void solve_hessian();
  bool proximal_point(Report& report);
  void move_slip(bool first, double& stride);
  void solve_proximal(const Options& options, Report& report);
  void restrain();

  int contacts_ = 0, rows_ = 0, n_ = 0;
  std::vector<Block> blocks_;
  VectorX<double> rho_;  ///< of bounded rows
  VectorX<double> u_, best_, swept_, relaxed_, step_, slip_;
  MatrixX<double> K_;  ///< Newton's matrix, by rows: K_.col(i) is row i
  // Of the proximal points: A = G G^T, G_.col(i) is row i of G; velocities; how firmly impulses are
  // held.
  MatrixX<double> G_;
  int rank_ = 0;
  VectorX<double> w_, trial_, rest_, hold_, way_;
};

}  // namespace limb
