#include "limb/codegen/record/trace.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "limb/base/check.hpp"
#include "limb/base/error.hpp"

namespace limb::codegen {

int Trace::input_size() const {
  int size = 0;
  for (const Array& array : inputs) size += array.size();
  return size;
}

Tracer::Tracer(std::string name) : recording_(trace_.graph) {
  trace_.name = std::move(name);
}

void Tracer::check_name(const std::string& name) const {
  const auto letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  if (name.empty() || !std::all_of(name.begin(), name.end(), letter) ||
      std::isdigit(static_cast<unsigned char>(name[0]))) {
    fail("Tracer", "name", "'" + name + "'", "letters, digits and _, no digit first");
  }
  for (const auto* arrays : {&trace_.inputs, &trace_.outputs}) {
    for (const Array& array : *arrays) {
      if (array.name == name) fail("Tracer", "name", "'" + name + "' twice", "distinct names");
    }
  }
}

MatrixX<Traced> Tracer::input(const std::string& name, int rows, int cols) {
  check_name(name);
  int number = trace_.input_size();
  trace_.inputs.push_back({name, rows, cols});
  MatrixX<Traced> x(rows, cols);
  for (int c = 0; c < cols; ++c) {
    for (int r = 0; r < rows; ++r) {
      x(r, c) = Traced::of_node(trace_.graph, trace_.graph.input(number++));
    }
  }
  return x;
}

VectorX<Traced> Tracer::input(const std::string& name, int size) {
  return input(name, size, 1);
}

void Tracer::output(const std::string& name, const MatrixX<Traced>& value) {
  check_name(name);
  trace_.outputs.push_back({name, static_cast<int>(value.rows()), static_cast<int>(value.cols())});
  for (Eigen::Index c = 0; c < value.cols(); ++c) {
    for (Eigen::Index r = 0; r < value.rows(); ++r) trace_.roots.push_back(value(r, c).node());
  }
}

Trace Tracer::finish() {
  return std::move(trace_);
}

}  // namespace limb::codegen
