#pragma once

#include <vector>

#include "limb/dynamics/constraints/actuated.hpp"
#include "limb/dynamics/factor/mass_factor.hpp"
#include "limb/dynamics/kinematics/frames.hpp"

/// Constraints of a robot besides its joints: contacts of its frames with the world, closed
/// kinematic loops and polynomial couplings of two joints. Each has 3 rows (a point), 6 (linear
/// before angular) or 1 (a polynomial).
namespace limb {

/// Baumgarte stabilization: the target acceleration is reduced by stiffness times the constraint
/// error and damping times its velocity [Baumgarte 1972, stabilization]. Both zero: none.
template <typename T>
struct Stabilization {
  T stiffness = T(0);  ///< 1/s^2
  T damping = T(0);    ///< 1/s
};

enum class ContactKind {
  point,    ///< the origin is fixed: 3 rows
  surface,  ///< position and orientation are fixed: 6 rows
};

/// Axes in which the rows and the force of a contact are expressed.
enum class ContactAxes {
  contact,  ///< those of C
  world,
};

/// A frame C, at X_FC on a frame of the robot, in contact with the world. Its force is that of the
/// world on the robot, at the origin of C.
template <typename T>
struct Contact {
  AnyFrame<T> frame;
  ContactKind kind = ContactKind::point;
  Pose<T> X_FC = {};
  ContactAxes axes = ContactAxes::contact;
  Stabilization<T> stabilization = {};
  /// Target acceleration of C, classical (of its origin), in the contact's axes.
  Motion<T> A_target = {};
  /// Target pose of C; used if there is stiffness.
  Pose<T> X_WC_target = {};
};

/// A loop of the model (Model::loops) that is closed. Its rows are the motion of link B's frame
/// relative to link A, in the axes of A's frame; its force acts on B there, and its opposite on A.
/// The row of a polynomial q_b = p(q_a) is dq_b/dt - p'(q_a) dq_a/dt; its force f acts on joint b,
/// and -p'(q_a) f on joint a.
template <typename T>
struct LoopClosure {
  int loop = 0;
  Stabilization<T> stabilization = {};
};

/// All loops of a model.
template <typename T>
std::vector<LoopClosure<T>> all_loops(const Model<T>& model,
                                      std::type_identity_t<Stabilization<T>> stabilization = {});

/// The constraints of one model: contacts in the given order, then loops. Construction allocates;
/// activating constraints and setting targets does not.
template <typename T>
class ConstraintSet {
 public:
  /// @throws Error for a frame or loop that is not in the model, a contact of the world with
  /// itself, or a negative gain.
  ConstraintSet(const Model<T>& model, std::vector<Contact<T>> contacts,
                std::vector<LoopClosure<T>> loops = {});

  int size() const { return static_cast<int>(items_.size()); }
  /// Number of rows of the active constraints, and of all.
  int rows() const { return rows_; }
  int max_rows() const { return max_rows_; }
  bool is_active(int i) const { return item("is_active", i).active; }
  void set_active(int i, bool active);
  /// First row and number of rows of constraint i; inactive: -1 and 0.
  int first_row(int i) const { return item("first_row", i).first_row; }
  int row_count(int i) const { return item("row_count", i).active ? items_[at(i)].rows : 0; }
  /// Sets the target of contact i. @throws Error if i is not a contact.
  void set_target(int i, const Motion<T>& A_target, const Pose<T>& X_WC_target = {});

  // For the algorithms of this module.

  struct Item {
    int rows = 3;
    bool active = true;
    int first_row = -1;
    int first_branch = 0, branches = 1;  ///< a loop has two: B, then A
    bool is_polynomial() const { return rows == 1; }
  };
  /// The path of a constraint from one of its bodies to the world.
  struct Branch {
    int joint = 0;      ///< of the canonical model; 0 is the world, or a polynomial
    int leaf = -1;      ///< last velocity of its path in the factor; -1: no velocity moves it
    int length = 0;     ///< of that path
    int start = 0;      ///< its columns in the arrays of the workspace
    T sign = T(1);      ///< of its contribution to the rows
    Pose<T> X_JC = {};  ///< the constraint's frame in that of the joint
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  const std::vector<Item>& items() const { return items_; }
  const std::vector<Branch>& branches() const { return branches_; }
  const std::vector<Contact<T>>& contacts() const { return contacts_; }
  const std::vector<LoopClosure<T>>& loops() const { return loops_; }
  /// A number for each active row, the same for the rows of one point or one rotation, whose
  /// entries in the Delassus matrix have one unit. A direction in which a constraint hardly acts,
  /// such as that across a planar linkage of rounded numbers, is then dropped however its axes are
  /// turned.
  const int* row_groups() const { return row_groups_.data(); }
  /// Joints of the canonical model that support any constraint, parents first.
  const std::vector<int>& support() const { return support_; }
  /// Number of velocities that two branches share: the first ones of both paths.
  int shared(int a, int b) const { return shared_[at(a) * branches_.size() + at(b)]; }
  int column_size() const { return column_size_; }
  int nv() const { return static_cast<int>(driven_.size()); }
  bool has_motor(int velocity) const { return driven_[at(velocity)]; }

 private:
  const Item& item(const char* call, int i) const;
  Branch& add_branch(const Model<T>& model, const MassFactor<T>& shape, std::size_t body, int lanes,
                     const T& sign);
  void add_branch(const Model<T>& model, const MassFactor<T>& shape, std::size_t body, int lanes,
                  const Pose<T>& X_BC, const T& sign);
  void count_rows();

  std::vector<Contact<T>> contacts_;
  std::vector<LoopClosure<T>> loops_;
  std::vector<Item> items_;
  std::vector<Branch> branches_;
  std::vector<int> support_, shared_, row_groups_;
  std::vector<bool> driven_;
  int rows_ = 0, max_rows_ = 0, column_size_ = 0;
};

template <typename T>
struct ConstraintWorkspaceData;

/// Scratch of the functions that take a ConstraintSet: one per thread, model and set.
template <typename T>
class ConstraintWorkspace {
 public:
  ConstraintWorkspace(const Model<T>& model, const ConstraintSet<T>& set);

  /// @throws Error unless this was made for that model and set, as far as their sizes tell.
  void check(const char* call, const Model<T>& model, const ConstraintSet<T>& set) const;

  /// Internal: for the algorithms of this module, which include constraint_workspace_data.hpp.
  ConstraintWorkspaceData<T>& data() { return *data_; }
  const ConstraintWorkspaceData<T>& data() const { return *data_; }

 private:
  CopyablePtr<ConstraintWorkspaceData<T>> data_;
};

}  // namespace limb
