#pragma once

#include <array>
#include <ostream>
#include <string>
#include <string_view>

namespace limb {

/// The axes of the second and third rotation of an Euler sequence.
enum class EulerConvention {
  intrinsic,  ///< the rotated axes of the body: R = R1 R2 R3
  extrinsic,  ///< the fixed axes of the world: R = R3 R2 R1
};

/// One of the 24 ways to write a rotation as three rotations about coordinate axes.
///
/// Text form, by the usual convention: upper case is intrinsic ("ZYX": yaw, then pitch, then roll
/// about the rotated axes), lower case extrinsic ("xyz": roll, pitch, yaw about the fixed axes).
/// The extrinsic sequence with angles (a, b, c) is the reversed intrinsic one with (c, b, a). Three
/// different axes: Tait-Bryan; the third axis equal to the first: proper Euler.
class EulerSequence {
 public:
  /// From text such as "ZYX" or "xyz"; in a constant expression an invalid text does not compile.
  /// @throws Error with the reason if the text is invalid.
  explicit constexpr EulerSequence(std::string_view text) {
    if (const char* wrong = fault(text)) fail_text(text, wrong);
    convention_ = text[0] < 'a' ? EulerConvention::intrinsic : EulerConvention::extrinsic;
    for (std::size_t n = 0; n < 3; ++n) axes_[n] = text[n] - letter(0);
  }

  /// Axis of the n-th angle: 0, 1, 2 for x, y, z.
  constexpr int axis(int n) const { return axes_[static_cast<std::size_t>(n)]; }
  constexpr EulerConvention convention() const { return convention_; }
  constexpr bool is_intrinsic() const { return convention_ == EulerConvention::intrinsic; }
  /// Proper Euler (first axis = third), not Tait-Bryan.
  constexpr bool is_proper() const { return axes_[0] == axes_[2]; }

  /// The sequence of the other convention that, with reversed angles, gives the same rotation.
  constexpr EulerSequence reversed() const {
    EulerSequence s = *this;
    s.axes_ = {axes_[2], axes_[1], axes_[0]};
    s.convention_ = is_intrinsic() ? EulerConvention::extrinsic : EulerConvention::intrinsic;
    return s;
  }

  constexpr std::array<char, 3> letters() const {
    return {letter(axes_[0]), letter(axes_[1]), letter(axes_[2])};
  }

  friend constexpr bool operator==(const EulerSequence&, const EulerSequence&) = default;

 private:
  constexpr char letter(int axis) const {
    return static_cast<char>((is_intrinsic() ? 'X' : 'x') + axis);
  }

  /// Why the text is not a sequence; null if it is one.
  static constexpr const char* fault(std::string_view text) {
    if (text.size() != 3) return "it must have three letters";
    int upper = 0;
    for (const char c : text) {
      if (!(('x' <= c && c <= 'z') || ('X' <= c && c <= 'Z'))) return "only x, y, z name an axis";
      upper += c < 'a';
    }
    if (upper % 3 != 0) return "upper case is intrinsic, lower case extrinsic; do not mix them";
    if (text[0] == text[1] || text[1] == text[2]) {
      return "two consecutive rotations about the same axis are a single rotation";
    }
    return nullptr;
  }
  [[noreturn]] static void fail_text(std::string_view text, std::string_view wrong);

  std::array<int, 3> axes_{};
  EulerConvention convention_ = EulerConvention::intrinsic;
};

/// All 24, intrinsic first; for each convention the six Tait-Bryan sequences before the six proper.
inline constexpr std::array<EulerSequence, 24> kEulerSequences = {
    EulerSequence("XYZ"), EulerSequence("XZY"), EulerSequence("YXZ"), EulerSequence("YZX"),
    EulerSequence("ZXY"), EulerSequence("ZYX"), EulerSequence("XYX"), EulerSequence("XZX"),
    EulerSequence("YXY"), EulerSequence("YZY"), EulerSequence("ZXZ"), EulerSequence("ZYZ"),
    EulerSequence("xyz"), EulerSequence("xzy"), EulerSequence("yxz"), EulerSequence("yzx"),
    EulerSequence("zxy"), EulerSequence("zyx"), EulerSequence("xyx"), EulerSequence("xzx"),
    EulerSequence("yxy"), EulerSequence("yzy"), EulerSequence("zxz"), EulerSequence("zyz")};

/// "ZYX" or "xyz": the text from which the sequence is constructed.
std::string to_text(const EulerSequence& sequence);
std::ostream& operator<<(std::ostream& out, const EulerSequence& sequence);

}  // namespace limb
