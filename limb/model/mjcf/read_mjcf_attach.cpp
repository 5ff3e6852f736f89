#include "limb/model/mjcf/read_mjcf_attach.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limb/base/error.hpp"
#include "limb/base/text_file.hpp"

namespace limb::mjcf {
namespace {

/// The <model> of this name in <asset>; null if it does not exist.
const Node* find_asset(const Node& root, const std::string& name) {
  for (const Node& section : root.children) {
    if (section.tag() != "asset") continue;
    for (const Node& asset : section.children) {
      if (asset.tag() != "model") continue;
      const auto file = XmlReader::text(*asset.element, "file").value_or("");
      const auto fallback = std::filesystem::path(file).stem().string();
      if (XmlReader::text(*asset.element, "name").value_or(fallback) == name) return &asset;
    }
  }
  return nullptr;
}

/// Coordinates of a free joint of the attached model in the world of this one.
std::vector<double> moved(const std::vector<double>& q, const Pose<double>& X_WW2) {
  const Pose<double> X = Pose<double>::from_quaternion(
      Quaternion<double>::from_xyzw({q[3], q[4], q[5], q[6]}), {q[0], q[1], q[2]});
  return free_coordinates(X_WW2 * X);
}

bool is_free(const ReadContext& context, const std::string& joint) {
  const auto found = context.named.joints.find(joint);
  return found != context.named.joints.end() &&
         context.result.joints[found->second.index].type == JointType::free;
}

/// Whether the joint belongs to the attached part.
bool has_joint(const AttachedModel& model, const std::string& joint) {
  const auto& named = model.context.named.joints;
  const auto found = named.find(joint);
  return found != named.end() &&
         model.links.contains(model.context.result.joints[found->second.index].child);
}

void merge_initial(const AttachedModel& model, ReadContext& context) {
  for (StateDescription::JointState state : model.context.result.scene.initial.joints) {
    if (!has_joint(model, state.joint)) continue;
    if (is_free(model.context, state.joint)) state.q = moved(state.q, model.X_WW2);
    state.joint = model.prefix + state.joint;
    context.result.scene.initial.joints.push_back(std::move(state));
  }
}

/// New indices of the actuators of a model; nullopt for those that do not belong to the part.
using Controls = std::vector<std::optional<std::size_t>>;

Controls merge_controls(const AttachedModel& model, ReadContext& context) {
  Controls controls;
  for (const std::string& joint : model.context.controls) {
    controls.emplace_back();
    if (joint.empty() ? !model.body.empty() : !has_joint(model, joint)) continue;
    controls.back() = context.controls.size();
    context.controls.push_back(joint.empty() ? "" : model.prefix + joint);
  }
  return controls;
}

/// Poses of free bodies are in the world and stay as they are, as in MuJoCo.
void merge_keyframes(const AttachedModel& model, const Controls& controls, ReadContext& context) {
  for (const StateDescription& key : model.context.result.scene.keyframes) {
    StateDescription state = context.result.scene.initial;
    state.name = key.name.empty() ? "" : model.prefix + key.name;
    state.source = key.source;
    for (StateDescription::JointState joint : key.joints) {
      if (!has_joint(model, joint.joint)) continue;
      joint.joint = model.prefix + joint.joint;
      const auto same = [&](const auto& other) { return other.joint == joint.joint; };
      std::erase_if(state.joints, same);
      state.joints.push_back(std::move(joint));
    }
    for (std::size_t i = 0; i < key.control.size(); ++i) {
      if (!controls[i]) continue;
      state.control.resize(std::max(state.control.size(), *controls[i] + 1));
      state.control[*controls[i]] = key.control[i];
    }
    context.result.scene.keyframes.push_back(std::move(state));
  }
}

void merge(const AttachedModel& model, ReadContext& context) {
  const Description<double>& from = model.context.result;
  Description<double>& to = context.result;
  const std::string& prefix = model.prefix;
  const Controls controls = merge_controls(model, context);
  const auto joints_here = [&](const auto& terms) {
    return std::all_of(terms.begin(), terms.end(),
                       [&](const auto& term) { return has_joint(model, term.joint); });
  };
  for (CouplingDescription<double> coupling : from.couplings) {
    if (!has_joint(model, coupling.joint) || !joints_here(coupling.terms)) continue;
    coupling.joint = prefix + coupling.joint;
    for (auto& term : coupling.terms) term.joint = prefix + term.joint;
    to.couplings.push_back(std::move(coupling));
  }
  for (TendonDescription tendon : from.tendons) {
    if (!joints_here(tendon.terms)) continue;
    tendon.name = prefix + tendon.name;
    for (auto& term : tendon.terms) term.joint = prefix + term.joint;
    for (auto& motor : tendon.motors) motor.control = controls[motor.control].value_or(0);
    context.named.tendons.emplace(tendon.name, to.tendons.size());
    to.tendons.push_back(std::move(tendon));
  }
  const auto here = [&](std::string& link, Pose<double>& X) {
    if (link == kWorldLink) {
      link = model.link;
      X = model.X_LF * X;
      return model.body.empty();
    }
    const bool found = model.links.contains(link);
    link = prefix + link;
    return found;
  };
  for (LoopDescription<double> loop : from.loops) {
    if (!here(loop.link_a, loop.X_AL) || !here(loop.link_b, loop.X_BL)) continue;
    loop.name = prefix + loop.name;
    to.loops.push_back(std::move(loop));
  }
  for (const auto& [first, second] : from.scene.excluded) {
    if (!model.links.contains(first) || !model.links.contains(second)) continue;
    to.scene.excluded.emplace_back(prefix + first, prefix + second);
  }
  for (SceneDescription::Pair pair : from.scene.pairs) {
    pair.first = prefix + pair.first;
    pair.second = prefix + pair.second;
    to.scene.pairs.push_back(std::move(pair));
  }
  for (ActuationDescription actuator : from.actuators) {
    if (!has_joint(model, actuator.joint)) continue;
    actuator.joint = prefix + actuator.joint;
    actuator.control = controls[actuator.control].value_or(0);
    to.actuators.push_back(std::move(actuator));
  }
  merge_keyframes(model, controls, context);
}

}  // namespace

AttachedModel* read_attached(const Node& node, ReadContext& context) {
  expect_attributes(context.diagnostics, node, {"model", "body", "prefix"});
  const Attributes a(node, context.diagnostics);
  const auto refuse = [&](const char* rule, const std::string& message, const char* reason) {
    a.error(rule, message, reason);
    return nullptr;
  };
  for (const char* name : {"model", "prefix"}) {
    if (!a.has(name)) {
      return refuse("attribute-missing", fmt::format("has no attribute '{}'", name),
                    "MuJoCo requires it");
    }
  }
  const std::string name = a.text("model");
  const Node* asset = find_asset(context.document.root(), name);
  if (asset == nullptr) {
    return refuse("model-unknown", fmt::format("model '{}' is not in <asset>", name.substr(0, 60)),
                  "the attached bodies are not known");
  }
  if (context.depth >= kMaxAttachDepth || ++context.limits.models > kMaxModels) {
    return refuse("attach-too-deep",
                  fmt::format("more than {} models, or more than {} inside each other", kMaxModels,
                              kMaxAttachDepth),
                  "a model cannot be attached to itself");
  }
  const std::string file = XmlReader::text(*asset->element, "file").value_or("");
  const auto path = context.document.resolve(file);
  if (!path) {
    const auto outside = context.document.folder_outside(file);
    return refuse("model-not-found",
                  outside.empty() ? fmt::format("model '{}': no such file", file)
                                  : fmt::format("model '{}' is outside of the folder of this file; "
                                                "to read it, give --root {}",
                                                file, outside.string()),
                  "the attached bodies would be missing");
  }
  ReadOptions options = context.options;
  options.roots.push_back(context.document.folder());
  std::shared_ptr<AttachedModel> model;
  try {
    std::string text = read_text_file("read_mjcf", *path, kMaxTextFile - context.limits.bytes);
    context.limits.bytes += text.size();
    model = std::make_shared<AttachedModel>(std::move(text), path->string(), std::move(options),
                                            context.diagnostics, context.limits);
  } catch (const Error& error) {
    constexpr std::string_view kCall = "read_mjcf: ";
    return refuse(
        "model-not-read",
        fmt::format("model '{}': {}", file, std::string_view(error.what()).substr(kCall.size())),
        "the attached bodies would be missing");
  }
  if (model->document.root().tag() != "mujoco") {
    return refuse("model-not-read",
                  fmt::format("model '{}': the outermost element is <{}>, expected <mujoco>", file,
                              model->document.root().tag().substr(0, 60)),
                  "the attached bodies would be missing");
  }
  model->context.depth = context.depth + 1;
  model->prefix = a.text("prefix") + context.suffix;
  model->body = a.text("body");
  if (model->body == kWorldLink) {
    return refuse("body-world", "body is 'world', which is not supported",
                  "MuJoCo makes a body of it, with the mass of its geoms; without 'body', all "
                  "bodies of the model are attached");
  }
  read_model(model->document.root(), model->context);
  if (!model->body.empty() && !model->context.named.bodies.contains(model->body)) {
    return refuse(
        "body-unknown",
        fmt::format("model '{}' has no body '{}'", name.substr(0, 60), model->body.substr(0, 60)),
        "the attached bodies are not known");
  }
  context.attached.push_back(model);
  return model.get();
}

void merge_bodies(AttachedModel& model, const std::string& link, const Pose<double>& X_WL,
                  const Pose<double>& X_LF, ReadContext& context) {
  const Description<double>& from = model.context.result;
  const auto& bodies = model.context.named.bodies;
  // The parent of the attached bodies becomes the frame at which they are attached.
  std::string top = kWorldLink;
  if (!model.body.empty()) top = from.joints[bodies.at(model.body).first_joint].parent;
  const Pose<double> X_W2P = bodies.at(top).X_WB;
  model.link = link;
  model.X_LF = X_LF;
  model.X_WW2 = X_WL * X_LF * X_W2P.inverse();

  std::vector<std::optional<std::size_t>> copied(from.joints.size());  // new indices
  for (std::size_t i = 0; i < from.joints.size(); ++i) {
    const JointDescription<double>& joint = from.joints[i];
    const bool first =
        model.body.empty() ? joint.parent == kWorldLink : i == bodies.at(model.body).first_joint;
    if (!first && !model.links.contains(joint.parent)) continue;
    model.links.emplace(joint.child, true);
    JointDescription<double> copy = joint;
    copy.name = model.prefix + joint.name;
    copy.child = model.prefix + joint.child;
    copy.parent = first ? link : model.prefix + joint.parent;
    if (first && joint.type != JointType::free) copy.X_PJ = X_LF * joint.X_PJ;
    if (first && joint.type == JointType::free && link != kWorldLink) {
      context.diagnostics.push_back(
          {Diagnostic::Severity::error,
           "free-joint-nested",
           joint.source,
           fmt::format("free joint '{}' of an attached model in a body that is not the world",
                       copy.name),
           "its coordinates would be relative to the world, not to the parent",
           {}});
    }
    const auto known = model.context.named.joints.find(joint.name);
    context.named.joints.emplace(
        copy.name,
        NamedElements::Joint{context.result.joints.size(),
                             known == model.context.named.joints.end() ? 0 : known->second.ref});
    copied[i] = context.result.joints.size();
    const auto body = bodies.find(joint.child);
    if (body != bodies.end()) {
      // Bodies of several joints begin at an earlier one. Of two bodies with one name, the known
      // one may be outside of the part.
      context.named.bodies.emplace(
          model.prefix + joint.child,
          NamedElements::Body{model.X_WW2 * body->second.X_WB,
                              copied[body->second.first_joint].value_or(*copied[i])});
    }
    const auto spring = model.context.spring_dampers.find(i);
    if (spring != model.context.spring_dampers.end()) {
      context.spring_dampers.emplace(context.result.joints.size(), spring->second);
    }
    context.result.joints.push_back(std::move(copy));
  }
  for (LinkDescription<double> copy : from.links) {
    if (!model.links.contains(copy.name)) continue;
    copy.name = model.prefix + copy.name;
    for (Geometry& geometry : copy.geometry) {
      if (!geometry.name.empty()) geometry.name = model.prefix + geometry.name;
    }
    context.result.links.push_back(std::move(copy));
  }
  for (const FrameDescription<double>& frame : from.frames) {
    const bool world = frame.link == kWorldLink && model.body.empty();
    if (!world && !model.links.contains(frame.link)) continue;
    FrameDescription<double> copy = frame;
    copy.name = model.prefix + frame.name;
    copy.link = world ? link : model.prefix + frame.link;
    if (world) copy.X_LF = X_LF * frame.X_LF;
    context.named.sites.emplace(copy.name, NamedElements::Site{copy.link, copy.X_LF});
    context.result.frames.push_back(std::move(copy));
  }
  merge_initial(model, context);
  context.merged.push_back(&model);
}

void merge_sections(ReadContext& context) {
  for (const AttachedModel* model : context.merged) merge(*model, context);
  for (StateDescription& key : context.result.scene.keyframes) {
    if (!key.control.empty()) key.control.resize(context.controls.size());
  }
}

}  // namespace limb::mjcf
