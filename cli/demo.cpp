#include "cli/demo.hpp"

#include <fmt/format.h>

#include "cli/demo_arm.hpp"
#include "cli/demo_lecture.hpp"
#include "cli/demo_planar.hpp"
#include "cli/demo_quadruped.hpp"
#include "cli/json_document.hpp"
#include "cli/report_page.hpp"
#include "cli/robot_options.hpp"
#include "limb/base/text_file.hpp"

namespace limb::cli {
namespace {

class Demo : public Verb {
 public:
  std::string_view name() const override { return "demo"; }
  std::string_view summary() const override {
    return "demonstrations: a walking quadruped, arms that are derived, proven and controlled";
  }
  std::string_view examples() const override {
    return "  limb demo                                a quadruped: checked, proven, walking\n"
           "  limb demo --flat --speed 0.3 --seed 7    slower, on flat ground, other noise\n"
           "  limb demo --model dog.urdf               any quadruped with three joints per leg\n"
           "  limb demo arm                            position and impedance control hit a wall\n"
           "  limb demo lecture                        the RR arm: derived, proven, simulated\n"
           "  limb demo lecture --model builtin:arm7   the same for any robot\n"
           "  limb demo planar --q2-deg 90 --qd2 -1    numbers of a textbook arm\n"
           "  limb demo planar --picture arm.svg       and a picture\n";
  }

  std::string_view notes() const override {
    return "Writes a self-contained report, out/demo.html or out/demo_NAME.html (planar has no\n"
           "report), and prints a summary. The report of the quadruped is explained in "
           "docs/demo.md.\n"
           "A quadruped has four legs of three joints with motors; other joints are held.\n"
           "The exit code is 2 if it fell.\n"
           "Angles, rates, lengths and masses are options of planar.\n";
  }

  void add_options(CLI::App& app) override {
    app_ = &app;
    app.add_option("NAME", which_, "arm, lecture or planar; default: the quadruped")->type_name("");
    app.add_option("-o,--output", output_, "report, default out/demo.html, out/demo_NAME.html")
        ->type_name("FILE");
    app.add_option("--picture", picture_, "write a picture of the demo")->type_name("FILE");
    app.add_flag("--json", json_, "machine-readable output")->disable_flag_override();
    app.add_option("--model", model_, "quadruped, default builtin:quadruped; lecture: any robot")
        ->type_name("MODEL");
    app.add_option("--root", roots_, "of --model: folder for package:// and relative paths")
        ->type_name("FOLDER");
    missing_meshes_.add(app);
    unsupported_.add(app);
    app.add_option("--feet", quadruped_.feet,
                   "quadruped: frames or bodies; default by name or shape")
        ->type_name("A,B,...");
    app.add_option("--posture", quadruped_.posture,
                   "quadruped: standing joint positions, rad; default: found")
        ->type_name("JOINT=Q,...");
    add_number(app, "--duration", quadruped_.seconds, "S", "quadruped: duration of the trot",
               {1, 120});
    add_number(app, "--seconds", quadruped_.seconds, "S", "former name of --duration", {1, 120});
    app.get_option("--seconds")->group("");
    add_number(app, "--speed", quadruped_.speed, "M/S", "quadruped: forward speed, default by size",
               {-0.8, 0.8});
    add_number(app, "--push", quadruped_.push, "N S",
               "quadruped: impulse from the right, default by weight", {-200, 200});
    add_whole_number(app, "--seed", quadruped_.seed,
                     "quadruped: seed of noise and ground, default 1", 0);
    app.add_flag("--flat", quadruped_.flat, "quadruped: flat ground without blocks")
        ->disable_flag_override();
    add_number(app, "--q1-deg", planar_.q1_deg, "DEG", "angle of link 1 from the world's x axis");
    add_number(app, "--q2-deg", planar_.q2_deg, "DEG", "angle of link 2 from link 1");
    add_number(app, "--qd1", planar_.qd[0], "RAD/S", "rate of joint 1");
    add_number(app, "--qd2", planar_.qd[1], "RAD/S", "rate of joint 2");
    add_number(app, "--length1", planar_.arm.length1, "M", "length of link 1");
    add_number(app, "--length2", planar_.arm.length2, "M", "length of link 2");
    add_number(app, "--mass1", planar_.arm.mass1, "KG", "mass of link 1, a uniform rod");
    add_number(app, "--mass2", planar_.arm.mass2, "KG", "mass of link 2, a uniform rod");
  }

  Exit run(std::ostream& out) override {
    reject_options_of("planar", {"--q1-deg", "--q2-deg", "--qd1", "--qd2", "--length1", "--length2",
                                 "--mass1", "--mass2"});
    reject_options_of("", {"--feet", "--posture", "--duration", "--seconds", "--speed", "--push",
                           "--seed", "--flat"});
    if (which_ != "lecture") {
      reject_options_of("", {"--model", "--root", "--missing-meshes", "--unsupported"});
    }
    ReadOptions& read = which_ == "lecture" ? lecture_.read : quadruped_.read;
    read.roots.assign(roots_.begin(), roots_.end());
    read.missing_meshes = missing_meshes_.value();
    read.unsupported = unsupported_.value();
    if (model_) (which_ == "lecture" ? lecture_.model : quadruped_.model) = *model_;
    const DemoResult result = make();
    const bool has_page = !result.page.empty();
    if (!has_page && !output_.empty())
      throw Error("limb demo: planar has no report, leave out --output");
    const std::string path = !output_.empty() ? output_
                             : which_.empty() ? "out/demo.html"
                                              : "out/demo_" + which_ + ".html";
    if (has_page) write_report("limb demo", path, result.page);
    if (picture_) write_text_file("limb demo", *picture_, result.picture);
    if (json_) {
      out << json_document(result.numbers);
    } else {
      out << result.text;
      if (has_page) out << fmt::format("\nReport: {}\n", path);
    }
    return result.ok ? Exit::ok : Exit::computation_failed;
  }

 private:
  DemoResult make() const {
    if (which_.empty()) return demo_quadruped(quadruped_);
    if (which_ == "arm") return demo_arm();
    if (which_ == "lecture") return demo_lecture(lecture_);
    if (which_ == "planar") return demo_planar(planar_);
    throw Error(fmt::format("limb demo: unknown argument '{}' (see: limb demo --help)", which_));
  }

  void reject_options_of(const std::string& demo, const std::vector<std::string>& options) const {
    if (which_ == demo) return;
    for (const std::string& option : options) {
      if (app_->get_option(option)->count() == 0) continue;
      throw Error(fmt::format("limb demo: {} is an option of '{}'", option,
                              demo.empty() ? "limb demo" : "limb demo " + demo));
    }
  }

  CLI::App* app_ = nullptr;
  std::string which_, output_;
  std::optional<std::string> picture_;
  bool json_ = false;
  std::optional<std::string> model_;
  QuadrupedDemo quadruped_;
  LectureDemo lecture_;
  std::vector<std::string> roots_;
  MissingMeshesOption missing_meshes_;
  UnsupportedOption unsupported_;
  PlanarDemo planar_;
};

}  // namespace

std::unique_ptr<Verb> make_demo() {
  return std::make_unique<Demo>();
}

}  // namespace limb::cli
