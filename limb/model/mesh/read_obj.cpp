#include <charconv>
#include <cmath>
#include <limits>

#include "limb/base/number.hpp"
#include "limb/model/mesh/read_mesh_formats.hpp"
#include "limb/model/mesh/triangulate.hpp"

namespace limb::mesh_formats {
namespace {

class ObjReader {
 public:
  ObjReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  TriangleMesh read() {
    while (!text_.empty()) read_line();
    // Faces may name vertices that follow them, so they are cut into triangles at the end.
    std::size_t begin = 0;
    for (std::size_t i = 0; i < faces_.size(); ++i) {
      if (i == first_object_) mesh_.first_object = mesh_.triangles.size();
      add_face({corners_.data() + begin, faces_[i].corners}, faces_[i].line);
      begin += faces_[i].corners;
    }
    if (first_object_ >= faces_.size()) mesh_.first_object = mesh_.triangles.size();
    return std::move(mesh_);
  }

 private:
  struct Face {
    std::uint32_t corners;
    int line;
  };

  void read_line() {
    const std::size_t end = std::min(text_.find('\n'), text_.size());
    std::string_view line = text_.substr(0, end);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    ++line_;
    line = line.substr(0, line.find('#'));
    // A backslash at the end joins the next line.
    std::string joined;
    while (ends_open(line) && !text_.empty()) {
      if (joined.empty()) joined = line;
      joined.resize(joined.find_last_of('\\'));
      const std::size_t next = std::min(text_.find('\n'), text_.size());
      joined += text_.substr(0, next);
      text_.remove_prefix(std::min(next + 1, text_.size()));
      ++line_;
      line = joined;
    }
    const std::string_view key = next_word(line);
    if (key == "v") {
      read_vertex(line);
    } else if (key == "f") {
      read_face(line);
    } else if (key == "l" || key == "p") {
      in_object_ = true;
    } else if ((key == "o" || key == "g") && in_object_ && first_object_ == kAll) {
      first_object_ = faces_.size();
    }
  }

  static bool ends_open(std::string_view line) {
    const std::size_t last = line.find_last_not_of(" \t\r");
    return last != line.npos && line[last] == '\\';
  }

  static std::string_view next_word(std::string_view& line) {
    constexpr std::string_view kSpace = " \t\r\v\f";
    line.remove_prefix(std::min(line.find_first_not_of(kSpace), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(kSpace));
    line.remove_prefix(word.size());
    return word;
  }

  void read_vertex(std::string_view line) {
    Vector3<double> p;
    for (int k = 0; k < 3; ++k) {
      const std::string_view word = next_word(line);
      const auto value = parse_number(word.starts_with('+') ? word.substr(1) : word);
      if (!value) {
        fail_here("a coordinate is '" + std::string(word.substr(0, 20)) +
                  "', expected a finite number");
      }
      p[k] = *value;
    }
    mesh_.vertices.push_back(p);
  }

  void read_face(std::string_view line) {
    in_object_ = true;
    const std::size_t begin = corners_.size();
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      int index = 0;
      const std::string_view number = word.substr(0, word.find('/'));
      const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), index);
      if (code != std::errc() || end != number.data() + number.size() || index == 0) {
        fail_here("a corner of a face is '" + std::string(word.substr(0, 20)) +
                  "', expected an index from 1 or a negative one");
      }
      // Negative indices count back from the last vertex so far.
      const auto known = static_cast<std::int64_t>(mesh_.vertices.size());
      const std::int64_t vertex = index > 0 ? std::int64_t(index) - 1 : known + index;
      if (vertex < 0) {
        fail_here("a face has the vertex " + std::to_string(index) + ", but there are only " +
                  std::to_string(known) + " before it");
      }
      corners_.push_back(static_cast<int>(vertex));
    }
    const std::size_t count = corners_.size() - begin;
    if (count < 3) {
      corners_.resize(begin);
    } else {
      faces_.push_back({static_cast<std::uint32_t>(count), line_});
    }
  }

  void add_face(std::span<const int> corners, int line) {
    for (const int corner : corners) {
      if (static_cast<std::size_t>(corner) < mesh_.vertices.size()) continue;
      line_ = line;
      fail_here("a face has the vertex " + std::to_string(std::int64_t(corner) + 1) +
                ", expected at most " + std::to_string(mesh_.vertices.size()));
    }
    if (!triangulate(mesh_.vertices, corners, mesh_.triangles)) {
      line_ = line;
      fail_here("a concave face has " + std::to_string(corners.size()) + " corners, expected at " +
                "most " + std::to_string(kMaxConcaveCorners) + " (export triangles)");
    }
  }

  [[noreturn]] void fail_here(const std::string& message) const {
    refuse(name_, "line " + std::to_string(line_) + ": " + message);
  }

  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

  std::string_view text_;  ///< not yet read
  const std::string& name_;
  int line_ = 0;
  TriangleMesh mesh_;
  std::vector<int> corners_;
  std::vector<Face> faces_;
  std::size_t first_object_ = kAll;  ///< number of faces of the first object, once it is complete
  bool in_object_ = false;           ///< whether the first object has elements
};

}  // namespace

TriangleMesh parse_obj(std::string_view bytes, const std::string& name) {
  return ObjReader(bytes, name).read();
}

}  // namespace limb::mesh_formats
