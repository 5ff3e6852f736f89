#pragma once

#include "limb/symbolic/write_function.hpp"

/// The few lines in which functions of C and of Python differ.
namespace limb::symbolic {

/// A number that both languages read back as the same double: "0.1", "2.0".
std::string program_number(double value);

class ProgramText {
 public:
  struct Output {
    std::string name;
    int size;
  };

  explicit ProgramText(Language language) : language_(language) {}

  /// The head of a function NAME(p, q, qd, qdd) with its outputs; `n` velocities.
  void open(const std::string& name, const std::string& robot, int n,
            const std::vector<std::string>& parameters, const std::vector<double>& defaults,
            const std::vector<Output>& outputs);
  /// A new variable.
  void declare(const std::string& name, const std::string& value);
  void assign(const std::string& place, const std::string& value);
  void add_to(const std::string& place, const std::string& value);
  /// sin(x) or math.sin(x)
  std::string call(const std::string& function, const std::string& x) const;
  /// The end, and the whole text.
  std::string close();

 private:
  bool is_c() const { return language_ == Language::c; }

  Language language_;
  std::vector<Output> outputs_;
  std::string text_;
};

}  // namespace limb::symbolic
