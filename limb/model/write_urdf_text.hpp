#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "limb/math/spatial.hpp"

/// XML text with the elements of URDF. For write_urdf's own use.
namespace limb::urdf {

class Text {
 public:
  Text& open(std::string_view tag);
  Text& close();
  Text& attribute(std::string_view name, std::string_view value);
  Text& content(std::string_view text);
  /// @throws Error "write_urdf: owner name is ..." if the value is not finite.
  Text& number(const std::string& owner, const char* name, double value);
  Text& vector(const std::string& owner, const char* name, const Vector3<double>& value);
  /// <origin>; nothing for the identity. @throws Error if X is no pose.
  Text& origin(const std::string& owner, const Pose<double>& X);
  /// The whole text.
  std::string finish() { return std::move(out_); }

 private:
  enum class State { empty, has_content, has_children };
  struct Open {
    std::string tag;
    State state = State::empty;
  };
  void end_tag();

  std::string out_ = "<?xml version=\"1.0\"?>\n";
  std::vector<Open> open_;
};

/// Roll, pitch, yaw that give R back to 4 eps, at gimbal lock to 9; an angle that was written with
/// at most 12 decimals comes back as written.
Vector3<double> short_rpy(const Matrix3<double>& R);

}  // namespace limb::urdf
