#include "limb/model/mjcf/read_mjcf_constraints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "limb/model/mjcf/read_mjcf_reference.hpp"

namespace limb::mjcf {
namespace {

using Loop = LoopDescription<double>;

/// Between two sites: their frames coincide.
void read_between_sites(const Attributes& a, Loop loop, ReadContext& context) {
  const auto* site1 = find(a, "site1", "site", context.named.sites, context);
  const auto* site2 = find(a, "site2", "site", context.named.sites, context);
  for (const char* name : {"site1", "site2"}) {
    if (!a.has(name)) missing_attribute(a, name);
  }
  if (site1 == nullptr || site2 == nullptr) return;
  loop.link_a = site1->second.link;
  loop.link_b = site2->second.link;
  loop.X_AL = site1->second.X_LS;
  loop.X_BL = site2->second.X_LS;
  context.result.loops.push_back(std::move(loop));
}

/// Between two bodies. Poses that are not written follow from the poses of the bodies in the file.
void read_between_bodies(const Attributes& a, Loop loop, ReadContext& context) {
  if (!a.has("body1")) return missing_attribute(a, "body1 or site1");
  const auto* A = find(a, "body1", "body", context.named.bodies, context);
  const NamedElement<NamedElements::Body> world{kWorldLink, {}};
  const auto* B = a.has("body2") ? find(a, "body2", "body", context.named.bodies, context) : &world;
  if (A == nullptr || B == nullptr) return;
  loop.link_a = A->first;
  loop.link_b = B->first;
  const Pose<double> X_AB = A->second.X_WB.inverse() * B->second.X_WB;
  if (loop.kind == Loop::Kind::connect) {
    if (!a.has("anchor")) return missing_attribute(a, "anchor");
    loop.X_AL.p = a.vector("anchor");
    loop.X_BL = X_AB.inverse() * loop.X_AL;
    context.result.loops.push_back(std::move(loop));
    return;
  }
  loop.X_BL.p = a.vector("anchor");
  loop.X_AL = X_AB * loop.X_BL;
  const auto relpose = a.numbers("relpose", 7);
  // A zero quaternion means the relative pose in the file.
  if (relpose &&
      std::any_of(relpose->begin() + 3, relpose->end(), [](double x) { return x != 0; })) {
    const auto& x = *relpose;
    const Vector4<double> wxyz(x[3], x[4], x[5], x[6]);
    loop.X_AL = Pose<double>::from_quaternion(
        Quaternion<double>::from_wxyz(wxyz.stableNormalized()), {x[0], x[1], x[2]});
  }
  context.result.loops.push_back(std::move(loop));
}

/// The polynomial of an equality, without powers whose coefficients are zero at its end: at least
/// two numbers.
std::vector<double> coefficients(const Attributes& a) {
  std::vector<double> c = {0, 1, 0, 0, 0};
  (void)a.overlay("polycoef", c);
  while (c.size() > 2 && c.back() == 0) c.pop_back();
  return c;
}

/// Coefficients of p(x - shift) by Horner's scheme, for p with the given ones.
std::vector<double> shifted(std::vector<double> c, double shift) {
  for (std::size_t i = 0; i + 1 < c.size(); ++i) {
    for (std::size_t k = c.size() - 1; k-- > i;) c[k] -= shift * c[k + 1];
  }
  return c;
}

/// q1 - ref1 = c0 + c1 (q2 - ref2) + ... + c4 (q2 - ref2)^4
void read_joint_equality(const Attributes& a, ReadContext& context) {
  if (!a.has("joint1")) return missing_attribute(a, "joint1");
  const auto& joints = context.result.joints;
  const auto* first = find(a, "joint1", "joint", context.named.joints, context);
  const auto* second = find(a, "joint2", "joint", context.named.joints, context);
  if (first == nullptr || (a.has("joint2") && second == nullptr)) return;
  if (!is_scalar(joints[first->second.index]) ||
      (second != nullptr && !is_scalar(joints[second->second.index]))) {
    return a.error("equality-not-supported", "couples joints that are not hinge or slide",
                   "only joints of one degree of freedom can be coupled");
  }
  std::vector<double> c = coefficients(a);
  if (second != nullptr) c = shifted(std::move(c), second->second.ref);
  CouplingDescription<double> coupling;
  coupling.joint = first->first;
  coupling.offset = first->second.ref + c[0];
  coupling.source = a.node().source();
  if (second != nullptr) {
    coupling.terms.push_back({second->first, c[1]});
    coupling.powers.assign(c.begin() + 2, c.end());
  }
  context.result.couplings.push_back(std::move(coupling));
}

/// L1 - L1_0 = c0 + c1 (L2 - L2_0) with the lengths L = sum(ratio q) of fixed tendons, solved for
/// the joint of the first tendon that has the largest ratio and does not follow others yet.
void read_tendon_equality(const Attributes& a, ReadContext& context) {
  if (!a.has("tendon1")) return missing_attribute(a, "tendon1");
  for (const char* name : {"tendon1", "tendon2"}) {
    if (!context.named.spatial_tendons.contains(a.text(name))) continue;
    return a.error(
        "equality-not-supported",
        fmt::format("attribute '{}' is '{}', a spatial tendon", name, a.text(name).substr(0, 60)),
        "the motion would differ");
  }
  const auto* first = find(a, "tendon1", "fixed tendon", context.named.tendons, context);
  const auto* second = find(a, "tendon2", "fixed tendon", context.named.tendons, context);
  if (first == nullptr || (a.has("tendon2") && second == nullptr)) return;
  const std::vector<double> c = coefficients(a);
  if (second != nullptr && c.size() > 2) {
    return a.error("equality-not-supported",
                   fmt::format("polycoef is [{}]: only the first two numbers are supported",
                               fmt::join(c, ", ")),
                   "limb couples tendons linearly");
  }
  std::map<std::string, double> ratios;  // sum(ratio (q - ref)) = c0
  for (const auto& term : context.result.tendons[first->second].terms) {
    ratios[term.joint] += term.ratio;
  }
  if (second != nullptr) {
    for (const auto& term : context.result.tendons[second->second].terms) {
      ratios[term.joint] -= c[1] * term.ratio;
    }
  }
  CouplingDescription<double> coupling;
  coupling.source = a.node().source();
  double largest = 0;
  for (const auto& term : context.result.tendons[first->second].terms) {
    const auto follows = [&](const auto& other) { return other.joint == term.joint; };
    const auto& known = context.result.couplings;
    if (std::any_of(known.begin(), known.end(), follows)) continue;
    if (std::abs(ratios[term.joint]) <= largest) continue;
    largest = std::abs(ratios[term.joint]);
    coupling.joint = term.joint;
  }
  if (largest == 0) {
    return a.error("equality-not-supported", "no joint of the tendon can follow the others",
                   "each of them follows other joints already");
  }
  coupling.offset = c[0] / ratios[coupling.joint];
  for (const auto& [joint, ratio] : ratios) {
    const double relative = ratio / ratios[coupling.joint];
    coupling.offset += relative * context.named.joints.at(joint).ref;
    if (joint != coupling.joint && ratio != 0) coupling.terms.push_back({joint, -relative});
  }
  context.result.couplings.push_back(std::move(coupling));
}

}  // namespace

void read_equality(const Node& section, ReadContext& context) {
  std::size_t number = 0;
  for (const Node& node : section.children) {
    const std::string_view tag = node.tag();
    const bool loop_like = tag == "connect" || tag == "weld";
    if (!loop_like && tag != "joint" && tag != "tendon") {
      if (tag == "flex" || tag == "flexvert" || tag == "flexstrain" || tag == "distance") {
        add(context.diagnostics, Diagnostic::Severity::error, node, "element-not-supported",
            fmt::format("equality <{}> is not supported", tag), "the motion would differ");
      } else {
        note_unknown_child(context.diagnostics, section, node,
                           {"connect", "weld", "joint", "tendon"});
      }
      continue;
    }
    expect_attributes(
        context.diagnostics, node,
        {"active", "anchor", "body1", "body2", "class", "joint1", "joint2", "name", "polycoef",
         "relpose", "site1", "site2", "solimp", "solref", "tendon1", "tendon2", "torquescale"});
    const DefaultClass& default_class =
        context.defaults.named_by(node, "class", context.defaults.main(), context.diagnostics);
    const Attributes a(node, "equality", default_class, context.diagnostics);
    if (a.keyword("active", {"true", "false"}, "true") == "false") {
      a.note("equality-not-active", "is not active", "it is left out");
      ++number;
      continue;
    }
    for_each_copy(references(node), context, [&] {
      ++number;
      if (tag == "joint") return read_joint_equality(a, context);
      if (tag == "tendon") return read_tendon_equality(a, context);
      Loop loop;
      loop.kind = tag == "weld" ? Loop::Kind::weld : Loop::Kind::connect;
      loop.name = context.name_of_copy(node);
      if (loop.name.empty()) loop.name = fmt::format("{}#{}", tag, number);
      loop.source = node.source();
      if (a.has("site1") || a.has("site2")) {
        read_between_sites(a, std::move(loop), context);
      } else {
        read_between_bodies(a, std::move(loop), context);
      }
    });
  }
}

}  // namespace limb::mjcf
