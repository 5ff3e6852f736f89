#include "cli/draw.hpp"

#include "cli/json_document.hpp"
#include "cli/robot_options.hpp"
#include "limb/base/text_file.hpp"
#include "limb/symbolic/typeset/robot_figure.hpp"

namespace limb::cli {
namespace {

class Draw final : public Verb {
 public:
  std::string_view name() const override { return "draw"; }
  std::string_view summary() const override {
    return "figure of a robot with the letters of its parameters, as SVG";
  }
  std::string_view examples() const override {
    return "  limb draw builtin:rr -o rr.svg                      links, joints, masses, gravity\n"
           "  limb draw arm.urdf --symbolic-parameters -o arm.svg  with symbols m1, l1, ...\n"
           "  limb draw builtin:rr --q 0.3,1.2 -o rr.svg          in another pose\n";
  }
  std::string_view notes() const override {
    return "Robots whose joints move in one plane are drawn in that plane, others obliquely. The\n"
           "same figure is on the HTML pages of limb derive.\n";
  }
  void add_options(CLI::App& app) override {
    robot_.add(app);
    app.add_option("--q", q_, "coordinates, rad or m, one per coordinate of limb derive")
        ->delimiter(',')
        ->type_name("LIST");
    app.add_flag("--symbolic-parameters", symbols_, "numbers of the file become symbols");
    app.add_option("-o,--output", output_, "output file, default stdout")->type_name("FILE");
    app.add_flag("--json", json_, "the figure as a value in JSON");
  }

  Exit run(std::ostream& out) override {
    robot_.report("limb draw");
    symbolic::RobotOptions options;
    options.base = robot_.base();
    options.read = robot_.read_options();
    if (symbols_) options.parameters = symbolic::Parameters::symbols;
    const symbolic::Robot robot = symbolic::load_robot(robot_.path(), options);
    std::string svg = draw_robot(robot, {.q = q_, .plain_names = false});
    if (json_) svg = json_document(nlohmann::json{{"robot", robot.model.name()}, {"svg", svg}});
    if (output_.empty()) {
      out << svg;
    } else {
      write_text_file("limb draw", output_, svg);
    }
    return Exit::ok;
  }

 private:
  RobotOptions robot_;
  std::vector<double> q_;
  bool symbols_ = false, json_ = false;
  std::string output_;
};

}  // namespace

std::unique_ptr<Verb> make_draw() {
  return std::make_unique<Draw>();
}

}  // namespace limb::cli
