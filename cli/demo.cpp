#include "cli/demo.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "cli/demo_lecture.hpp"
#include "cli/demo_planar.hpp"
#include "cli/demo_quadruped.hpp"
#include "cli/report_page.hpp"

namespace limb::cli {
namespace {

class Demo : public Verb {
 public:
  std::string_view name() const override { return "demo"; }
  std::string_view summary() const override {
    return "A quadruped that walks on its own estimate; arms that are derived, proven, controlled.";
  }
  std::string_view examples() const override {
    return "  limb demo                                a quadruped: checked, proven, walking\n"
           "  limb demo --flat --speed 0.3 --seed 7    slower, on level ground, other noise\n"
           "  limb demo arm                            position and impedance control meet a wall\n"
           "  limb demo lecture                        the RR arm derived, proven, simulated\n"
           "  limb demo planar --q2-deg 90 --qd2 -1    a textbook arm in numbers\n"
           "  limb demo planar --picture arm.svg       and a picture of it\n";
  }

  std::string_view notes() const override {
    return "Writes a report that opens without a network, out/demo.html or out/demo_NAME.html\n"
           "(planar writes none), and prints a summary. What a run of the quadruped shows:\n"
           "docs/demo.md. Options of angles, lengths and masses are of planar.\n";
  }

  void add_options(CLI::App& app) override {
    app_ = &app;
    app.add_option("NAME", which_, "arm, lecture or planar; without: the quadruped")->type_name("");
    app.add_option("-o,--out,--output", output_,
                   "report, default out/demo.html, out/demo_NAME.html")
        ->type_name("FILE.html");
    app.add_option("--picture", picture_, "write a picture of the demo")->type_name("FILE.svg");
    app.add_flag("--json", json_, "machine-readable output")->disable_flag_override();
    app.add_option("--model", dog_.model, "quadruped, default builtin:quadruped")
        ->type_name("FILE");
    add_number(app, "--seconds", dog_.seconds, "S", "quadruped: how long it trots, default 10");
    add_number(app, "--speed", dog_.speed, "M/S", "quadruped: forward, default 0.5");
    add_number(app, "--push", dog_.push, "N S", "quadruped: impulse from the right, default 4");
    app.add_option("--seed", dog_.seed, "quadruped: of noise and ground, default 1")
        ->type_name("N");
    app.add_flag("--flat", dog_.flat, "quadruped: level ground, no blocks")
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
    refuse_options_of("planar", {"--q1-deg", "--q2-deg", "--qd1", "--qd2", "--length1", "--length2",
                                 "--mass1", "--mass2"});
    refuse_options_of("", {"--model", "--seconds", "--speed", "--push", "--seed", "--flat"});
    const DemoResult result = make();
    const bool has_page = !result.page.empty();
    if (!has_page && !output_.empty()) throw Error("limb demo: planar writes no report");
    const std::string path = !output_.empty() ? output_
                             : which_.empty() ? "out/demo.html"
                                              : "out/demo_" + which_ + ".html";
    if (has_page) write_report("limb demo", path, result.page);
    if (picture_) write_picture(result.picture);
    if (json_) {
      out << result.numbers.dump(2) << "\n";
    } else {
      out << result.text;
      if (has_page) out << fmt::format("\nReport: {}\n", path);
    }
    return result.ok ? Exit::ok : Exit::computation_failed;
  }

 private:
  DemoResult make() const {
    if (which_.empty()) return demo_quadruped(dog_);
    if (which_ == "arm") return demo_arm();
    if (which_ == "lecture") return demo_lecture();
    if (which_ == "planar") return demo_planar(planar_);
    throw Error(fmt::format("limb demo: unknown argument '{}' (see: limb demo --help)", which_));
  }

  void refuse_options_of(const std::string& demo, const std::vector<std::string>& options) const {
    if (which_ == demo) return;
    for (const std::string& option : options) {
      if (app_->get_option(option)->count() == 0) continue;
      throw Error(fmt::format("limb demo: {} is of '{}'", option,
                              demo.empty() ? "limb demo" : "limb demo " + demo));
    }
  }

  void write_picture(const std::string& svg) const {
    errno = 0;
    std::ofstream file(*picture_, std::ios::binary);
    file << svg;
    file.close();
    if (!file) {
      throw Error(fmt::format("limb demo: cannot write '{}': {}", *picture_, std::strerror(errno)));
    }
  }

  CLI::App* app_ = nullptr;
  std::string which_, output_;
  std::optional<std::string> picture_;
  bool json_ = false;
  QuadrupedDemo dog_;
  PlanarDemo planar_;
};

}  // namespace

std::unique_ptr<Verb> make_demo() {
  return std::make_unique<Demo>();
}

}  // namespace limb::cli
