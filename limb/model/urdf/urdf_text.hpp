#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "limb/math/spatial.hpp"

/// XML text with the elements of URDF. Internal to write_urdf.
namespace limb::urdf {

class UrdfText {
 public:
  UrdfText& open(std::string_view tag);
  UrdfText& close();
  UrdfText& attribute(std::string_view name, std::string_view value);
  UrdfText& content(std::string_view text);
  /// @throws Error "write_urdf: owner name is ..." if the value is not finite.
  UrdfText& number(const std::string& owner, const char* name, double value);
  UrdfText& vector(const std::string& owner, const char* name, const Vector3<double>& value);
  /// <origin>; nothing for the identity. @throws Error if X is not a rigid transform.
  UrdfText& origin(const std::string& owner, const Pose<double>& X);
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

/// Roll, pitch and yaw that reproduce R to 4 eps, at gimbal lock to 9; an angle that was written
/// with at most 12 decimals is returned as written.
Vector3<double> short_rpy(const Matrix3<double>& R);

}  // namespace limb::urdf
