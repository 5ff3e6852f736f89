#pragma once

#include <array>
#include <ostream>
#include <string>
#include <string_view>

namespace limb {

/// About which axes the second and third rotation of an Euler sequence turn.
enum class EulerReading {
  intrinsic,  ///< the turned axes of the body: R = R1 R2 R3
  extrinsic,  ///< the fixed axes of the world: R = R3 R2 R1
};

/// One of the 24 ways to write a rotation as three turns about coordinate axes.
///
/// Text form, after the usual custom: upper case is intrinsic ("ZYX": yaw, then pitch, then roll
/// about the turned axes), lower case extrinsic ("xyz": roll, pitch, yaw about the fixed axes). The
/// extrinsic sequence with angles (a, b, c) is the intrinsic one read backwards with (c, b, a).
/// Three different axes: Tait-Bryan; first axis again as third: proper Euler.
class EulerSequence {
 public:
  /// From text such as "ZYX" or "xyz"; in a constant expression a wrong text does not compile.
  /// @throws Error that says what is wrong with the text.
  explicit constexpr EulerSequence(std::string_view text) {
    if (const char* wrong = fault(text)) fail_text(text, wrong);
    reading_ = text[0] < 'a' ? EulerReading::intrinsic : EulerReading::extrinsic;
    for (std::size_t n = 0; n < 3; ++n) axes_[n] = text[n] - letter(0);
  }

  /// Axis of the n-th angle: 0, 1, 2 for x, y, z.
  constexpr int axis(int n) const { return axes_[static_cast<std::size_t>(n)]; }
  constexpr EulerReading reading() const { return reading_; }
  constexpr bool is_intrinsic() const { return reading_ == EulerReading::intrinsic; }
  /// Proper Euler (first axis = third), not Tait-Bryan.
  constexpr bool is_proper() const { return axes_[0] == axes_[2]; }

  /// The sequence of the other reading that, with its angles reversed, is the same rotation.
  constexpr EulerSequence reversed() const {
    EulerSequence s = *this;
    s.axes_ = {axes_[2], axes_[1], axes_[0]};
    s.reading_ = is_intrinsic() ? EulerReading::extrinsic : EulerReading::intrinsic;
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

  /// Why the text names no sequence; null if it does.
  static constexpr const char* fault(std::string_view text) {
    if (text.size() != 3) return "it must have three letters";
    int upper = 0;
    for (const char c : text) {
      if (!(('x' <= c && c <= 'z') || ('X' <= c && c <= 'Z'))) return "only x, y, z name an axis";
      upper += c < 'a';
    }
    if (upper % 3 != 0) return "upper case is intrinsic, lower case extrinsic; do not mix them";
    if (text[0] == text[1] || text[1] == text[2]) {
      return "two turns in a row about one axis are a single turn";
    }
    return nullptr;
  }
  [[noreturn]] static void fail_text(std::string_view text, std::string_view wrong);

  std::array<int, 3> axes_{};
  EulerReading reading_ = EulerReading::intrinsic;
};

/// All 24, intrinsic first; in each reading the six Tait-Bryan sequences before the six proper.
inline constexpr std::array<EulerSequence, 24> kEulerSequences = {
    EulerSequence("XYZ"), EulerSequence("XZY"), EulerSequence("YXZ"), EulerSequence("YZX"),
    EulerSequence("ZXY"), EulerSequence("ZYX"), EulerSequence("XYX"), EulerSequence("XZX"),
    EulerSequence("YXY"), EulerSequence("YZY"), EulerSequence("ZXZ"), EulerSequence("ZYZ"),
    EulerSequence("xyz"), EulerSequence("xzy"), EulerSequence("yxz"), EulerSequence("yzx"),
    EulerSequence("zxy"), EulerSequence("zyx"), EulerSequence("xyx"), EulerSequence("xzx"),
    EulerSequence("yxy"), EulerSequence("yzy"), EulerSequence("zxz"), EulerSequence("zyz")};

/// "ZYX" or "xyz": the text the sequence is made from.
std::string to_text(const EulerSequence& sequence);
std::ostream& operator<<(std::ostream& out, const EulerSequence& sequence);

}  // namespace limb
