#pragma once

#include "limb/model/core/description.hpp"

namespace limb {

/// The links of a Description by index, as far as they form a tree; for the linter, which must also
/// handle broken robots. Links in a cycle, and links below an unknown parent, are not reached.
struct LinkTree {
  static constexpr int kNone = -1;

  std::vector<int> joint;            ///< joint above each link; kNone for a root
  std::vector<int> parent;           ///< parent link; kNone for a root or below an undeclared world
  std::vector<int> order;            ///< reached links, parents first
  std::vector<Pose<double>> X_RL;    ///< each link in its root with all coordinates zero
  std::vector<int> body;             ///< first of the links that fixed joints weld together
  std::vector<bool> welded_to_root;  ///< to the root or world: moves only with a free base

  [[nodiscard]] bool reached(int link) const { return body[static_cast<std::size_t>(link)] >= 0; }
};

LinkTree link_tree(const Description<double>& robot);

/// Inertia of each body, stored at its first link and in the frame of that link; zero at all other
/// links.
std::vector<Inertia<double>> body_inertias(const Description<double>& robot, const LinkTree& tree);

/// Links whose mass and inertia are less than a thousandth of those of their body: placeholders
/// that some tools require. Their values do not matter.
std::vector<bool> negligible_links(const Description<double>& robot, const LinkTree& tree);

}  // namespace limb
