#pragma once

#include "limb/base/copyable_ptr.hpp"
#include "limb/dynamics/arguments.hpp"

namespace limb {

template <typename T>
struct WorkspaceData;

/// How forward dynamics treats the kinematic loops of a model (Model::loops).
enum class Loops {
  closed,  ///< kept closed by constraint forces
  open,    ///< ignored: only the spanning tree is simulated
};

/// Scratch memory of the recursive algorithms: one per thread and model, reusable for any number of
/// calls. It holds no results, and no call depends on an earlier one.
template <typename T>
class Workspace {
 public:
  explicit Workspace(const Model<T>& model, Loops loops_of_model = Loops::closed);

  /// @throws Error unless this was made for that model, or for a copy of it.
  void check(const char* call, const Model<T>& model) const;

  /// Internal: for the algorithms of this module, which include workspace_data.hpp.
  WorkspaceData<T>& data() { return *data_; }
  const WorkspaceData<T>& data() const { return *data_; }

 private:
  CopyablePtr<WorkspaceData<T>> data_;
};

}  // namespace limb
