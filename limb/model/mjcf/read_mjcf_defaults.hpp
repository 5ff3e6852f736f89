#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "limb/math/scalar.hpp"
#include "limb/model/mjcf/read_mjcf_document.hpp"

/// Default classes of MJCF, and the attributes of an element with the defaults of its class.
namespace limb::mjcf {

/// Larger numbers are rejected: their products could overflow.
inline constexpr double kMaxNumber = 1e30;
/// Longer names are rejected, since every child repeats them.
inline constexpr std::size_t kMaxName = 256;
inline constexpr int kMaxClassDepth = 64;

/// The attributes that one class sets; others are those of its parent.
struct DefaultClass {
  using Settings = std::map<std::string, const Node*, std::less<>>;  ///< attribute -> node
  const DefaultClass* parent = nullptr;
  std::map<std::string, Settings, std::less<>> tags;
};

class Defaults {
 public:
  Defaults();
  /// Adds a top-level <default> of the file. All kinds of actuator share one set of defaults, as
  /// in MuJoCo.
  void read(const Node& node, Diagnostics& diagnostics);

  [[nodiscard]] const DefaultClass& main() const { return classes_.front(); }
  /// The class that attribute `attribute` of the node names, else `fallback`. An unknown name is
  /// an error, and `fallback` is used.
  [[nodiscard]] const DefaultClass& named_by(const Node& node, const char* attribute,
                                             const DefaultClass& fallback,
                                             Diagnostics& diagnostics) const;

 private:
  void read_class(const Node& node, DefaultClass& into, int depth, Diagnostics& diagnostics);

  std::deque<DefaultClass> classes_;
  std::unordered_map<std::string, DefaultClass*> by_name_;
};

/// Tag of an element in the defaults: every actuator has the tag "actuator".
std::string_view default_tag(std::string_view tag);

/// The attributes of one element, else those of its class, else those of the class's parent.
class Attributes {
 public:
  /// An element without defaults.
  Attributes(const Node& node, Diagnostics& diagnostics);
  Attributes(const Node& node, std::string_view kind, const DefaultClass& default_class,
             Diagnostics& diagnostics);

  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] bool has(const char* name) const { return setting_node(name) != nullptr; }
  [[nodiscard]] std::string text(const char* name, std::string_view fallback = {}) const;
  [[nodiscard]] double number(const char* name, double fallback) const;
  [[nodiscard]] Vector3<double> vector(const char* name,
                                       const Vector3<double>& fallback = {0, 0, 0}) const;
  /// Exactly `count` numbers, or nullopt if the attribute is missing or invalid.
  [[nodiscard]] std::optional<std::vector<double>> numbers(const char* name,
                                                           std::size_t count) const;
  /// At most fallback.size() numbers; those not given keep the value of the class, then of
  /// `fallback`. Returns the largest number of values given on a level.
  [[nodiscard]] std::size_t overlay(const char* name, std::vector<double>& fallback) const;
  /// The first of up to three coefficients of a polynomial; others that are not zero are an error,
  /// since damping and springs are linear in limb.
  [[nodiscard]] double linear_coefficient(const char* name) const;
  /// One of the words; anything else is an error and `fallback`.
  [[nodiscard]] std::string keyword(const char* name, std::initializer_list<std::string_view> words,
                                    std::string_view fallback) const;

  /// Levels of precedence: 0 is the element itself, then its class, its parent class, ...
  [[nodiscard]] std::size_t levels() const { return classes_.size() + 1; }
  /// The node that sets the attribute on this level, or null.
  [[nodiscard]] const Node* at(std::size_t level, std::string_view name) const;
  /// The numbers of this node only. @see numbers
  [[nodiscard]] std::optional<std::vector<double>> numbers_of(const Node& node, const char* name,
                                                              std::size_t count) const;
  /// 1 to `at_most` numbers of this node only.
  [[nodiscard]] std::optional<std::vector<double>> numbers_up_to(const Node& node, const char* name,
                                                                 std::size_t at_most) const {
    return parsed(node, name, 1, at_most);
  }

  void error(std::string rule, std::string message, std::string reason, std::string fix = {}) const;
  void warn(std::string rule, std::string message, std::string reason, std::string fix = {}) const;
  void note(std::string rule, std::string message, std::string reason, std::string fix = {}) const;
  /// Whether there are so many diagnostics that nearest names are no longer searched.
  [[nodiscard]] bool has_many_diagnostics() const { return diagnostics_.size() >= kMaxSearches; }
  /// "<geom>: ..." or "geom 'name': ..."
  [[nodiscard]] std::string title() const { return node_.title(); }

 private:
  [[nodiscard]] const Node* setting_node(std::string_view name) const;
  [[nodiscard]] std::optional<std::vector<double>> parsed(const Node& node, const char* name,
                                                          std::size_t at_least,
                                                          std::size_t at_most) const;

  const Node& node_;
  std::vector<const DefaultClass::Settings*> classes_;
  Diagnostics& diagnostics_;
};

/// The name of an element, at most kMaxName long; "" if it has none.
std::string name_of(const Node& node, Diagnostics& diagnostics);

}  // namespace limb::mjcf
