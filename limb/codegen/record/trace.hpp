#pragma once

#include <string>
#include <vector>

#include "limb/codegen/record/pattern.hpp"
#include "limb/codegen/record/traced.hpp"
#include "limb/math/scalar.hpp"

namespace limb::codegen {

/// An argument or a result: a named matrix, its entries column by column.
struct Array {
  std::string name;
  int rows = 0, cols = 1;
  bool symmetric = false;
  int size() const { return rows * cols; }
};

/// A recorded computation with its arguments and results.
struct Trace {
  std::string name;
  Graph graph;
  std::vector<Array> inputs, outputs;
  /// The node of each entry of each result, in order.
  std::vector<int> roots;
  /// The entries of a matrix that each result has; empty if all results are full.
  std::vector<Pattern> patterns;

  int input_size() const;
  int output_size() const { return static_cast<int>(roots.size()); }
};

/// Names the arguments and results while a computation is recorded:
///
///   Tracer tracer("kinetic");
///   const VectorX<Traced> v = tracer.input("v", 6);
///   tracer.output("T", VectorX<Traced>::Constant(1, v.dot(v) * Traced(0.5)));
///   const Trace trace = tracer.finish();
class Tracer {
 public:
  explicit Tracer(std::string name);
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  /// @throws Error if the name is taken or is not an identifier.
  VectorX<Traced> input(const std::string& name, int size);
  MatrixX<Traced> input(const std::string& name, int rows, int cols);
  void output(const std::string& name, const MatrixX<Traced>& value);
  /// Ends the recording; the tracer cannot be used afterwards.
  Trace finish();

 private:
  void check_name(const std::string& name) const;

  Trace trace_;
  Recording recording_;
};

}  // namespace limb::codegen
