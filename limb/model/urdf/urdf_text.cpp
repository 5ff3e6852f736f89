#include "limb/model/urdf/urdf_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "limb/math/euler.hpp"

namespace limb::urdf {
namespace {

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        // Readers may change a bare line end in an attribute, for example to a space.
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("&#{};", static_cast<int>(c));
        } else {
          out += c;
        }
    }
  }
  return out;
}

}  // namespace

void UrdfText::end_tag() {
  if (open_.empty()) return;
  State& state = open_.back().state;
  if (state == State::empty) {
    out_ += ">\n";
    state = State::has_children;
  }
}

UrdfText& UrdfText::open(std::string_view tag) {
  end_tag();
  out_.append(2 * open_.size(), ' ');
  out_ += '<';
  out_ += tag;
  open_.push_back({std::string(tag)});
  return *this;
}

UrdfText& UrdfText::attribute(std::string_view name, std::string_view value) {
  out_ += fmt::format(" {}=\"{}\"", name, escape(value));
  return *this;
}

UrdfText& UrdfText::content(std::string_view text) {
  out_ += '>';
  out_ += escape(text);
  open_.back().state = State::has_content;
  return *this;
}

UrdfText& UrdfText::close() {
  const Open last = open_.back();
  open_.pop_back();
  if (last.state == State::empty) {
    out_ += "/>\n";
    return *this;
  }
  if (last.state == State::has_children) out_.append(2 * open_.size(), ' ');
  out_ += "</" + last.tag + ">\n";
  return *this;
}

UrdfText& UrdfText::number(const std::string& owner, const char* name, double value) {
  check_finite("write_urdf", owner + " " + name, value);
  return attribute(name, to_text(value));
}

UrdfText& UrdfText::vector(const std::string& owner, const char* name,
                           const Vector3<double>& value) {
  check_finite("write_urdf", owner + " " + name, value);
  return attribute(
      name, fmt::format("{} {} {}", to_text(value[0]), to_text(value[1]), to_text(value[2])));
}

UrdfText& UrdfText::origin(const std::string& owner, const Pose<double>& X) {
  const bool turns = X.R != Matrix3<double>::Identity();
  const bool shifts = X.p != Vector3<double>::Zero();
  if (!turns && !shifts) return *this;
  open("origin");
  if (shifts) vector(owner + " origin", "xyz", X.p);
  if (turns) {
    check_rotation("write_urdf", owner + " origin R", X.R);
    vector(owner + " origin", "rpy", short_rpy(X.R));
  }
  return close();
}

Vector3<double> short_rpy(const Matrix3<double>& R) {
  const Vector3<double> rpy = matrix_to_rpy(R).angles;
  Vector3<double> rounded = rpy;
  for (double& angle : rounded) angle = std::round(angle * 1e12) / 1e12 + 0.0;  // no -0
  for (int i = 0; i < 3; ++i) {
    // An angle with more digits changes by up to 5e-13 when rounded: it is kept unrounded.
    if (std::abs(rounded[i] - rpy[i]) > 4 * epsilon<double>()) rounded[i] = rpy[i];
  }
  const auto error = [&](const Vector3<double>& angles) {
    return (rpy_to_matrix(angles[0], angles[1], angles[2]) - R).cwiseAbs().maxCoeff();
  };
  return error(rounded) <= 4 * epsilon<double>() ? rounded : rpy;
}

}  // namespace limb::urdf
