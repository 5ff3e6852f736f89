#include <fmt/format.h>

#include <array>

#include "limb/symbolic/derive/exact_description.hpp"

namespace limb::symbolic {
namespace {

using T = Polynomial;

/// Creates symbols with unused names.
class Namer {
 public:
  explicit Namer(const std::shared_ptr<Ring>& ring) : ring_(ring) {}

  /// Replaces a nonzero number by a symbol of that value.
  void operator()(T& x, const std::string& name) {
    if (!x.is_constant() || x.is_zero()) return;
    x = make(name, x.constant().to_double());
  }
  /// `name` if only one entry is nonzero, else namex, namey, namez.
  void operator()(Vector3<T>& x, const std::string& name) {
    const auto zeros = std::count_if(x.begin(), x.end(), [](const T& e) { return e.is_zero(); });
    for (int i = 0; i < 3; ++i) (*this)(x[i], zeros == 2 ? name : name + kAxes[i]);
  }
  T make(const std::string& name, double value) {
    std::string unused = name;
    for (char letter = 'b'; ring_->find_symbol(unused) && letter <= 'z'; ++letter)
      unused = name + letter;
    return T::symbol(ring_, ring_->add_symbol({unused, Symbol::Kind::parameter, value, {}, 0}));
  }

 private:
  static constexpr std::array<char, 3> kAxes = {'x', 'y', 'z'};
  std::shared_ptr<Ring> ring_;
};

}  // namespace

void name_parameters(const std::shared_ptr<Ring>& ring, const Model<T>& model,
                     Description<T>& description) {
  Namer name(ring);
  const auto body_of = [&](const std::string& link) {
    return link == kWorldLink ? 0 : model.frame(model.find_frame(link)).body.value();
  };
  for (auto& link : description.links) {
    const int i = body_of(link.name);
    if (!link.inertial || i == 0) continue;
    auto& I = *link.inertial;
    name(I.mass, fmt::format("m{}", i));
    name(I.X_LI.p, fmt::format("lc{}", i));  // c1 is a cosine
    for (int r = 0; r < 3; ++r) {
      for (int c = r; c < 3; ++c) {
        const auto axis = [](int k) { return static_cast<char>('x' + k); };
        name(I.tensor(r, c), fmt::format("I{}{}{}", axis(r), axis(c), i));
        I.tensor(c, r) = I.tensor(r, c);
      }
    }
  }
  for (auto& joint : description.joints) {
    const int parent = body_of(joint.parent), i = body_of(joint.child);
    if (i == 0) continue;
    name(joint.X_PJ.p, fmt::format("l{}", parent));
    name(joint.X_JC.p, fmt::format("e{}", i));
    name(joint.pitch, fmt::format("h{}", i));
    name(joint.armature, fmt::format("J{}", i));
    name(joint.damping, fmt::format("b{}", i));
    name(joint.friction, fmt::format("fc{}", i));
  }
  for (auto& frame : description.frames) name(frame.X_LF.p, "t");
  Vector3<T>& g = description.gravity;
  const auto zeros = std::count_if(g.begin(), g.end(), [](const T& x) { return x.is_zero(); });
  for (int i = 0; i < 3; ++i) {
    if (!g[i].is_constant() || g[i].is_zero()) continue;
    const double value = g[i].constant().to_double();
    if (zeros == 2) {  // g is the magnitude: positive
      g[i] = value < 0 ? -name.make("g", -value) : name.make("g", value);
    } else {
      name(g[i], fmt::format("g{}", static_cast<char>('x' + i)));
    }
  }
}

}  // namespace limb::symbolic
