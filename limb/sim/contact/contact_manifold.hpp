#pragma once

#include <array>

#include "limb/sim/contact/collide.hpp"

namespace limb {

/// Candidate contact points of a pair of solids, of which a few spread ones are kept.
///
/// Candidates with similar normals form a group, the deepest first. Of each group at most eight
/// are kept: one of the deepest, then in turn the one that enlarges the polygon of those kept the
/// most, with less weight for higher ones. The choice depends on the order of features where
/// candidates are nearly equal, so that a resting solid keeps its points.
class ContactManifold {
 public:
  static constexpr int kMaxPoints = 8;

  bool empty() const { return count_ == 0; }
  void add(const CollisionPoint& point);
  void select(CollisionPoints& points);

 private:
  static constexpr int kCapacity = 384;
  static constexpr int kMaxGroups = 3;
  using Chosen = std::array<int, kMaxPoints>;

  CollisionPoint& item(int i) { return items_[static_cast<std::size_t>(i)]; }
  const CollisionPoint& item(int i) const { return items_[static_cast<std::size_t>(i)]; }
  void select_group(int first, int end, CollisionPoints& points);

  std::array<CollisionPoint, kCapacity> items_;
  int count_ = 0;
};

}  // namespace limb
