#pragma once

#include "limb/dynamics/recursive/workspace.hpp"

namespace limb {

template <typename T>
struct DerivativeWorkspaceData;

/// Scratch memory of rnea_derivatives and aba_derivatives: one per thread and model.
template <typename T>
class DerivativeWorkspace {
 public:
  explicit DerivativeWorkspace(const Model<T>& model, Loops loops_of_model = Loops::closed);

  /// @throws Error unless this was made for that model, or for a copy of it.
  void check(const char* call, const Model<T>& model) const;

  /// Internal: for the algorithms of this module, which include derivative_workspace_data.hpp.
  DerivativeWorkspaceData<T>& data() { return *data_; }
  const DerivativeWorkspaceData<T>& data() const { return *data_; }

 private:
  CopyablePtr<DerivativeWorkspaceData<T>> data_;
};

}  // namespace limb
