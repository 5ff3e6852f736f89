#pragma once

#include <vector>

#include "limb/dynamics/frames.hpp"
#include "limb/dynamics/mass_factor.hpp"
#include "limb/dynamics/motors.hpp"
#include "limb/dynamics/positive_solve.hpp"

/// What holds a robot besides its joints: contacts of its frames with the world, and loops that
/// close its tree. Each is 3 rows (a point) or 6 (linear before angular).
namespace limb {

/// Pulls a violated constraint back: what it wants of the acceleration is less by stiffness times
/// its error and damping times its velocity [Baumgarte 1972, stabilization]. Both zero: it is not
/// watched.
template <typename T>
struct Stabilization {
  T stiffness = T(0);  ///< 1/s^2
  T damping = T(0);    ///< 1/s
};

enum class ContactKind {
  point,    ///< the origin stays: 3 rows
  surface,  ///< the whole frame stays: 6 rows
};

/// In which axes the rows and the force of a contact are written.
enum class ContactAxes {
  contact,  ///< those of C
  world,
};

/// A frame C, at X_FC on a frame of the robot, that the world holds. Its force is the world's on
/// the robot, at the origin of C.
template <typename T>
struct Contact {
  AnyFrame<T> frame;
  ContactKind kind = ContactKind::point;
  Pose<T> X_FC = {};
  ContactAxes axes = ContactAxes::contact;
  Stabilization<T> stabilization = {};
  /// Acceleration that C shall have, classical (of its origin), in the contact's axes.
  Motion<T> A_wanted = {};
  /// Where C shall stand; read if there is stiffness.
  Pose<T> X_WC_wanted = {};
};

/// A loop of the model (Model::loops) that is closed. Its rows are the motion of link B's frame
/// seen from link A, in the axes of A's; its force acts on B there, and its opposite on A.
template <typename T>
struct LoopClosure {
  int loop = 0;
  Stabilization<T> stabilization = {};
};

/// All loops of a model.
template <typename T>
std::vector<LoopClosure<T>> all_loops(const Model<T>& model,
                                      std::type_identity_t<Stabilization<T>> stabilization = {});

/// The constraints of one model: contacts in their order, then loops. Making one allocates;
/// switching its members on and off, and moving their targets, does not.
template <typename T>
class ConstraintSet {
 public:
  /// @throws Error for a frame or loop that the model has not, a contact of the world with itself,
  /// or a negative gain.
  ConstraintSet(const Model<T>& model, std::vector<Contact<T>> contacts,
                std::vector<LoopClosure<T>> loops = {});

  int size() const { return static_cast<int>(items_.size()); }
  /// Rows of the active ones, and of all.
  int rows() const { return rows_; }
  int max_rows() const { return max_rows_; }
  bool is_active(int i) const { return item("is_active", i).active; }
  void set_active(int i, bool active);
  /// Where the rows of constraint i begin, and how many they are; inactive: -1 and 0.
  int first_row(int i) const { return item("first_row", i).first_row; }
  int row_count(int i) const { return item("row_count", i).active ? items_[at(i)].rows : 0; }
  /// What contact i shall do. @throws Error if i is no contact.
  void set_target(int i, const Motion<T>& A_wanted, const Pose<T>& X_WC_wanted = {});

  // For the algorithms of this room.

  struct Item {
    int rows = 3;
    bool active = true;
    int first_row = -1;
    int first_branch = 0, branches = 1;  ///< a loop has two: B, then A
  };
  /// The way of a constraint from one of its bodies to the world.
  struct Branch {
    int step = 0;       ///< of the canonical model; 0 is the world
    int leaf = -1;      ///< velocity at the end of its path in the factor; -1: no velocity moves it
    int length = 0;     ///< of that path
    int start = 0;      ///< its columns in the arrays of the workspace
    T sign = T(1);      ///< of its part in the rows
    Pose<T> X_SC = {};  ///< the constraint's frame on the step
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  const std::vector<Item>& items() const { return items_; }
  const std::vector<Branch>& branches() const { return branches_; }
  const std::vector<Contact<T>>& contacts() const { return contacts_; }
  const std::vector<LoopClosure<T>>& loops() const { return loops_; }
  /// Steps of the canonical model on the way of any constraint, parents first.
  const std::vector<int>& support() const { return support_; }
  /// How many velocities two branches share: the first ones of both paths.
  int shared(int a, int b) const { return shared_[at(a) * branches_.size() + at(b)]; }
  int column_room() const { return column_room_; }
  int velocity_size() const { return static_cast<int>(driven_.size()); }
  bool has_motor(int velocity) const { return driven_[at(velocity)]; }

 private:
  const Item& item(const char* call, int i) const;
  void add_branch(const Model<T>& model, const MassFactor<T>& shape, std::size_t body, int lanes,
                  const Pose<T>& X_BC, const T& sign);
  void count_rows();

  std::vector<Contact<T>> contacts_;
  std::vector<LoopClosure<T>> loops_;
  std::vector<Item> items_;
  std::vector<Branch> branches_;
  std::vector<int> support_, shared_;
  std::vector<bool> driven_;
  int rows_ = 0, max_rows_ = 0, column_room_ = 0;
};

/// Scratch of the functions that take a ConstraintSet: one for each thread, model and set.
template <typename T>
struct ConstraintWorkspace {
  ConstraintWorkspace(const Model<T>& model, const ConstraintSet<T>& set);

  Workspace<T> tree;  ///< its loops are open: they are the set's
  MassFactor<T> factor;

  // For the algorithms of this room. All in world axes.

  /// A step that carries constraints: support_impl.hpp.
  struct Step {
    Matrix3<T> R = Matrix3<T>::Identity();
    Vector3<T> p = Vector3<T>::Zero();
    Vector3<T> w = p, wd = p, v = p, a = p;
  };
  VectorX<T> q, v, h, y;               ///< of the joints; bias; generalized forces
  std::vector<T> angle, cosine, sine;  ///< of the support; room for whole fours
  std::vector<Step> steps;
  Vector3<T> p_WO = Vector3<T>::Zero();
  std::vector<Motion<T>> S;     ///< of each joint velocity, at O
  std::vector<T> J, Y, Z;       ///< of each branch over its path: J^T, L^-T J^T, D^-1 L^-T J^T
  std::vector<Matrix3<T>> R_W;  ///< of each constraint: axes that its user sees
  VectorX<T> velocity;          ///< J v
  VectorX<T> drift;             ///< Jdot v less what is wanted
  VectorX<T> rhs, force;
  MatrixX<T> dense;  ///< J, in its user's axes
  MatrixX<T> A;      ///< J M^-1 J^T, upper triangle
  kernel::PositiveSolve<T> solve;
};

}  // namespace limb
