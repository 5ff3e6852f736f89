#pragma once

#include <memory>

#include "limb/codegen/lower/code.hpp"

namespace limb::codegen {

/// A straight-line program that computes the roots of the trace, in the order of its recording,
/// with the sines and cosines of the inputs first.
Code lower(const Trace& trace, const LowerOptions& options = {});

/// The part of lowering that does not depend on sines and precision: done once for several
/// calls of lower. The trace must outlive it.
class Lowerer {
 public:
  explicit Lowerer(const Trace& trace, bool fuse = true);
  ~Lowerer();
  /// @param options with the same `fuse` as above.
  Code lower(const LowerOptions& options) const;

 private:
  struct Uses;
  std::unique_ptr<Uses> uses_;
  const Trace& trace_;
};

}  // namespace limb::codegen
