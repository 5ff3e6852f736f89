#pragma once

#include "limb/symbolic/derive/write_function.hpp"

/// Writes functions in C or Python.
namespace limb::symbolic {

/// A literal that both languages read as the same double: "0.1", "2.0".
std::string number_literal(double value);

class SourceWriter {
 public:
  struct Output {
    std::string name;
    int size;
  };

  explicit SourceWriter(Language language) : language_(language) {}

  /// The head of a function NAME(p, q, qd, qdd) with its outputs; n is the number of velocities.
  /// The notes are comments; so is the equation, with or without Coulomb friction.
  void open(const std::string& name, const std::string& robot, int n,
            const std::vector<std::string>& parameters, const std::vector<double>& defaults,
            const std::vector<Output>& outputs, const std::vector<std::string>& notes,
            bool friction);
  /// Declares a variable.
  void declare(const std::string& name, const std::string& value);
  void assign(const std::string& target, const std::string& value);
  void add_to(const std::string& target, const std::string& value);
  /// sin(x) or math.sin(x); also for cos, sqrt, sign
  std::string call(const std::string& function, const std::string& x) const;
  /// Ends the function and returns the text.
  std::string close();

 private:
  bool is_c() const { return language_ == Language::c; }

  Language language_;
  std::vector<Output> outputs_;
  std::string text_;
};

}  // namespace limb::symbolic
