#include <bit>
#include <cmath>
#include <limits>

#include "limb/base/number.hpp"
#include "limb/model/mesh/little_endian.hpp"
#include "limb/model/mesh/read_mesh_formats.hpp"

namespace limb::mesh_formats {
namespace {

constexpr std::size_t kHeader = 84, kTriangle = 50;

/// Vertices of the triangles of an STL file, each position once. A hash table with open addressing.
class VertexMerger {
 public:
  explicit VertexMerger(std::vector<Vector3<double>>& vertices)
      : vertices_(vertices), slots_(64, kEmpty) {}

  /// The index of the vertex at this position.
  int index_of(const Vector3<double>& position) {
    if (2 * vertices_.size() >= slots_.size()) grow();
    int& slot = slot_of(position);
    if (slot == kEmpty) {
      slot = static_cast<int>(vertices_.size());
      vertices_.push_back(position);
    }
    return slot;
  }

 private:
  static constexpr int kEmpty = -1;

  int& slot_of(const Vector3<double>& p) {
    std::uint64_t hash = 0;
    for (int k = 0; k < 3; ++k) {
      // Adding 0 turns -0 into 0: equal numbers have equal bits.
      hash = (hash ^ std::bit_cast<std::uint64_t>(p[k] + 0.0)) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    }
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at] != kEmpty && vertices_[static_cast<std::size_t>(slots_[at])] != p) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return slots_[at];
  }

  void grow() {
    slots_.assign(2 * slots_.size(), kEmpty);
    for (std::size_t i = 0; i < vertices_.size(); ++i) {
      slot_of(vertices_[i]) = static_cast<int>(i);
    }
  }

  std::vector<Vector3<double>>& vertices_;
  std::vector<int> slots_;
};

TriangleMesh parse_binary(std::string_view bytes, std::size_t count, const std::string& name) {
  TriangleMesh mesh;
  VertexMerger merger(mesh.vertices);
  mesh.triangles.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::array<int, 3> triangle;
    for (std::size_t k = 0; k < 3; ++k) {
      // The normal comes first.
      const std::size_t at = kHeader + kTriangle * i + 12 * (k + 1);
      const Vector3<double> p(little_endian_float(bytes, at), little_endian_float(bytes, at + 4),
                              little_endian_float(bytes, at + 8));
      if (!p.allFinite()) {
        refuse(name,
               "a coordinate of triangle " + std::to_string(i + 1) + " is not a finite number");
      }
      triangle[k] = merger.index_of(p);
    }
    mesh.triangles.push_back(triangle);
  }
  return mesh;
}

/// Words of a text, separated by white space.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  /// The next word, or "" at the end.
  std::string_view next() {
    skip_space();
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_space(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }
  /// Line of the last word, from 1.
  int line() const { return line_; }

 private:
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) line_ += text_[at_++] == '\n' ? 1 : 0;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

class TextReader {
 public:
  TextReader(std::string_view text, const std::string& name)
      : words_(text), name_(name), merger_(mesh_.vertices) {}

  TriangleMesh read() {
    for (std::string_view word = words_.next(); !word.empty(); word = words_.next()) {
      if (word != "solid") unexpected(word, "solid");
      words_.skip_line();  // the name of the solid may contain anything
      for (word = words_.next(); word == "facet"; word = words_.next()) read_facet();
      if (word != "endsolid") unexpected(word, "facet or endsolid");
      words_.skip_line();
    }
    return std::move(mesh_);
  }

 private:
  void read_facet() {
    expect("normal");
    for (int k = 0; k < 3; ++k) (void)words_.next();  // not needed, and often wrong
    expect("outer");
    expect("loop");
    std::array<int, 3> triangle;
    for (int& index : triangle) {
      expect("vertex");
      Vector3<double> p;
      for (int k = 0; k < 3; ++k) p[k] = number();
      index = merger_.index_of(p);
    }
    expect("endloop");
    expect("endfacet");
    mesh_.triangles.push_back(triangle);
  }

  void expect(std::string_view expected) {
    const std::string_view word = words_.next();
    if (word != expected) unexpected(word, expected);
  }
  double number() {
    const std::string_view word = words_.next();
    const auto value = parse_number(word.starts_with('+') ? word.substr(1) : word);
    if (!value) unexpected(word, "a finite number");
    return *value;
  }
  [[noreturn]] void unexpected(std::string_view found, std::string_view expected) const {
    const std::string what = found.empty() ? std::string("the file ends")
                                           : "'" + std::string(found.substr(0, 20)) + "' is found";
    refuse(name_, "line " + std::to_string(words_.line()) + ": " + what + ", expected " +
                      std::string(expected) + (found.empty() ? " (the file is cut)" : ""));
  }

  Words words_;
  const std::string& name_;
  TriangleMesh mesh_;
  VertexMerger merger_;
};

}  // namespace

TriangleMesh parse_stl(std::string_view bytes, const std::string& name) {
  // The header of binary files may start with "solid" as well: the size decides.
  std::uint64_t size = 0;
  if (bytes.size() >= kHeader) {
    const std::uint64_t count = little_endian_bits(bytes, kHeader - 4);
    size = kHeader + kTriangle * count;
    if (size == bytes.size()) return parse_binary(bytes, count, name);
  }
  const std::size_t begin = bytes.find_first_not_of(" \t\r\n");
  if (begin != bytes.npos && bytes.substr(begin).starts_with("solid")) {
    // A binary file that is cut has zeros or other control characters in its header.
    if (bytes.substr(0, kHeader).find('\0') == bytes.npos) return TextReader(bytes, name).read();
  }
  if (bytes.size() < kHeader) {
    refuse(name, "has " + std::to_string(bytes.size()) +
                     " bytes, expected at least the 84 of an STL header (the file is cut, or not " +
                     "STL)");
  }
  refuse(name, "has " + std::to_string(bytes.size()) + " bytes, expected " + std::to_string(size) +
                   " by the number of triangles in the STL header (the file is cut, or not STL)");
}

}  // namespace limb::mesh_formats
