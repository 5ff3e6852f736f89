#pragma once

#include "limb/model/description.hpp"

namespace limb {

/// Links of a Description by index, as far as they form a tree; made for the linter, which must
/// read broken robots too. Links in a cycle, and links below an unknown parent, are not reached.
struct LinkTree {
  static constexpr int kNone = -1;

  std::vector<int> joint;          ///< joint above each link; kNone for a root
  std::vector<int> parent;         ///< parent link; kNone for a root or below an undeclared world
  std::vector<int> order;          ///< links that were reached, parents first
  std::vector<Pose<double>> X_RL;  ///< each link in its root with all coordinates zero
  std::vector<int> body;           ///< first link of the links welded together by fixed joints
  std::vector<bool> still;         ///< welded to the root (or world): moves only with a free base

  [[nodiscard]] bool reached(int link) const { return body[static_cast<std::size_t>(link)] >= 0; }
};

LinkTree link_tree(const Description<double>& robot);

/// Inertia of all links welded together, at the first link of each body and in its frame; no mass
/// elsewhere.
std::vector<Inertia<double>> body_inertias(const Description<double>& robot, const LinkTree& tree);

/// Links whose mass and inertia are less than a thousandth of those of the body they are welded
/// into: placeholders that some tools ask for. Their numbers are of no consequence.
std::vector<bool> negligible_links(const Description<double>& robot, const LinkTree& tree);

}  // namespace limb
