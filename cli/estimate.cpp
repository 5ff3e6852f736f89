#include "cli/estimate.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "cli/estimate_report.hpp"
#include "cli/interrupt.hpp"
#include "cli/png.hpp"
#include "cli/robot_options.hpp"
#include "cli/write_walk_log.hpp"
#include "limb/base/text_file.hpp"
#include "limb/model/core/load.hpp"
#include "limb/sim/log/log_writer.hpp"

namespace limb::cli {
namespace {

using Json = nlohmann::json;

class Estimate final : public Verb {
 public:
  std::string_view name() const override { return "estimate"; }
  std::string_view summary() const override {
    return "base state of a walking robot, from a log of IMU, joints and contacts";
  }
  std::string_view examples() const override {
    return "  limb estimate run.mcap --feet lf,rf,lh,rh -o run.html     report with charts\n"
           "  limb estimate run.csv --model hyq.urdf --feet lf_foot,rf_foot --filter eskf --json\n"
           "  limb estimate walk.csv --model builtin:quadruped --feet "
           "FL_foot,FR_foot,RL_foot,RR_foot \\\n"
           "      --make-walk 10 -o walk.html                           writes a synthetic "
           "walk, then reads it\n";
  }
  std::string_view notes() const override {
    return "Topics: imu (fx fy fz wx wy wz), position and velocity (one field per joint), contact\n"
           "(one field per foot: 0 or 1, or newtons), truth or state (q., v.) to compare with.\n"
           "From limb simulate: sensors of the types accelerometer, gyroscope, position, "
           "velocity,\n"
           "and contact or force named after the foot; otherwise the forces of [[contact.foot]].\n"
           "Log formats: docs/estimation.md. The robot must stand still for a second before it\n"
           "moves. The output format follows from the file name: .html, .svg, .png, or a log, "
           ".csv\n"
           "or .mcap.\n";
  }
  void add_options(CLI::App& app) override {
    app.add_option("LOG", log_, "log: .csv or .mcap")->required();
    app.add_option("--model", model_, "robot of the log, default the one named in the log")
        ->type_name("MODEL");
    missing_meshes_.add(app);
    app.add_option("--feet", feet_, "frames of the feet, separated by commas")
        ->required()
        ->delimiter(',')
        ->type_name("LIST");
    app.add_option("--imu", imu_, "frame of the IMU, default the base frame")->type_name("FRAME");
    app.add_option("--filter", filter_, "inekf or eskf, default inekf")->type_name("NAME");
    app.add_option("--odometry", odometry_,
                   "measure feet by position or velocity, default position")
        ->check(CLI::IsMember({"position", "velocity"}))
        ->type_name("KIND");
    app.add_option("--contact-by", contact_by_,
                   "source of contacts: log, torque or always, default log")
        ->check(CLI::IsMember({"log", "torque", "always"}))
        ->type_name("SOURCE");
    app.add_option("-o,--output", output_, "report, picture or log")->type_name("FILE");
    app.add_flag("--json", json_, "the summary as JSON");
    const auto number = [&](const char* option, double& value, const char* unit,
                            const std::string& text) {
      add_number(app, option, value, unit, text, NumberRange::not_negative());
    };
    number("--gyro-noise", options_.imu.gyro, "RAD/S/RTHZ", "gyroscope noise density");
    number("--accel-noise", options_.imu.accel, "M/S2/RTHZ", "accelerometer noise density");
    number("--gyro-walk", options_.imu.gyro_walk, "RAD/S/RTS", "random walk of the gyroscope bias");
    number("--accel-walk", options_.imu.accel_walk, "M/S2/RTS",
           "random walk of the accelerometer bias");
    number("--encoder-noise", options_.encoder, "RAD", "noise of joint positions");
    number("--contact-noise", options_.contact_noise, "M/RTS", "random walk of a foot in contact");
    number("--foot-error", options_.foot_error, "M", "error of the leg kinematics");
    add_number(app, "--gate", options_.gate, "P", "probability that a valid update passes",
               {0, 1, true});
    add_number(app, "--ground", ground_, "M", "height of flat ground, default unknown");
    number("--rest", options_.initial.rest, "S", "initial rest");
    add_number(app, "--make-force", make_force_, "N",
               "makes a contact, default 1/5 of the weight per foot", NumberRange::positive());
    add_number(app, "--break-force", break_force_, "N",
               "force below which a contact breaks, default half of that",
               NumberRange::not_negative());
    add_number(app, "--make-walk", walk_, "S",
               "first write a synthetic walk of this duration to LOG", NumberRange::positive(2500));
    add_whole_number(app, "--seed", seed_, "seed of the noise of --make-walk, default 1", 0);
    app.add_option("--accelerometer", topics_.accelerometer, "topic of the accelerometer")
        ->type_name("TOPIC");
    app.add_option("--gyroscope", topics_.gyroscope, "topic of the gyroscope")->type_name("TOPIC");
    app.add_option("--positions", topics_.positions, "topic of joint positions")
        ->type_name("TOPIC");
    app.add_option("--velocities", topics_.velocities, "topic of joint velocities")
        ->type_name("TOPIC");
    app.add_option("--contacts", topics_.contacts, "topic of contacts, or one per foot")
        ->delimiter(',')
        ->type_name("LIST");
    app.add_option("--truth", topics_.truth, "topic of the true state")->type_name("TOPIC");
  }

  Exit run(std::ostream& out) override {
    options_.filter = filter_kind(kCall, filter_);
    options_.odometry = odometry_ == "velocity" ? Odometry::velocity : Odometry::position;
    if (ground_) options_.ground_height = *ground_;
    const Interrupt interrupt;
    check_output();
    if (walk_) make_walk();
    const LogData log = read_log(kCall, log_);
    const Model<double> model = load(log);
    const LegKinematics legs(model, feet_, imu_);  // throws if a name is unknown
    const double weight = model.total_mass() * model.gravity().norm();
    constexpr double kShare = 0.2;
    options_.contact.make_force =
        make_force_.value_or(weight > 0 ? kShare * weight / static_cast<double>(feet_.size()) : 1);
    options_.contact.break_force = break_force_.value_or(options_.contact.make_force / 2);
    const SensorLog sensors = read_sensors(kCall, log, model, feet_, topics_);
    const ContactSource source = contact_by_ == "torque"   ? ContactSource::torque
                                 : contact_by_ == "always" ? ContactSource::always
                                                           : ContactSource::log;
    const EstimateSummary summary =
        run_estimate(kCall, sensors, model, feet_, imu_, options_, source);
    if (!output_.empty()) write_output(summary, sensors.notice);
    if (json_) {
      out << json_of(summary).dump(2) << "\n";
      return Exit::ok;
    }
    out << fmt::format("{} by {}\n", model.name(), filter_);
    for (const auto& [name, value] : estimate_rows(summary)) {
      out << fmt::format("  {:<24} {}\n", name, value);
    }
    return Exit::ok;
  }

 private:
  static constexpr const char* kCall = "limb estimate";

  void check_output() const {
    for (const char* ending : {".html", ".svg", ".png", ".csv", ".mcap"}) {
      if (output_.empty() || output_.ends_with(ending)) return;
    }
    fail(kCall, "--output", "'" + output_ + "'",
         "a name that ends in .html, .svg, .png, .csv or .mcap");
  }

  Model<double> load(const LogData& log) const {
    std::string path = model_;
    const auto found = log.metadata.find("model");
    if (path.empty() && found != log.metadata.end()) path = found->second;
    if (path.empty()) {
      throw Error("limb estimate: the log does not name its robot, add --model");
    }
    // Adds a free joint if the file does not describe one.
    ReadOptions options;
    options.missing_meshes = missing_meshes_.value();
    const Model<double> described = load_model(path, Base::described, options);
    if (described.body_count() > 1 && described.bodies()[1].joint.type() == JointType::free) {
      return described;
    }
    return load_model(path, Base::free, options);
  }

  void make_walk() const {
    if (model_.empty()) throw Error("limb estimate: --make-walk needs --model");
    WalkOptions walking;
    walking.feet = feet_;
    walking.imu = imu_;
    walking.duration = *walk_;
    walking.rest = std::min(1.2, *walk_ / 2);
    WalkErrors errors;
    errors.imu = options_.imu;
    errors.encoder = options_.encoder;
    errors.encoder_rate = 0.02;
    errors.creep = options_.contact_noise;
    NoiseGenerator noise(derived_seed(seed_, 7));
    for (int i = 0; i < 3; ++i) {
      errors.gyro_bias[i] = 5e-3 * noise.normal();
      errors.accel_bias[i] = 0.05 * noise.normal();
    }
    write_walk_log(kCall, log_, {load({}), walking}, errors, seed_, model_);
  }

  void write_output(const EstimateSummary& summary, const std::string& notice) const {
    if (output_.ends_with(".csv") || output_.ends_with(".mcap")) {
      write_log(summary);
      return;
    }
    const std::string title = log_.substr(log_.find_last_of('/') + 1) + ", " + filter_;
    const std::string text = output_.ends_with(".html")
                                 ? estimate_page(summary, feet_, title, notice)
                                 : estimate_charts(summary, feet_);
    write_text_file(kCall, output_,
                    output_.ends_with(".png") ? png_of_svg(kCall, text, 1.5) : text);
  }

  void write_log(const EstimateSummary& summary) const {
    const EstimateSeries& x = summary.series;
    const std::vector<std::string> names = {"p.x", "p.y", "p.z", "roll", "pitch",
                                            "yaw", "v.x", "v.y", "v.z"};
    const auto log = open_log(kCall, output_,
                              {{"estimate", names},
                               {"sigma", names},
                               {"bias", {"wx", "wy", "wz", "fx", "fy", "fz"}},
                               {"contact", feet_}},
                              {{"filter", filter_}});
    VectorX<double> nine(9), six(6), contact(static_cast<Eigen::Index>(feet_.size()));
    for (std::size_t k = 0; k < x.t.size(); ++k) {
      if (Interrupt::signal() != 0) {
        Interrupt::check(kCall, fmt::format("after {} of {} rows of {}", k, x.t.size(), output_));
      }
      for (std::size_t i = 0; i < 9; ++i) nine[static_cast<Eigen::Index>(i)] = x.value[i][k];
      log->write(0, x.t[k], nine);
      for (std::size_t i = 0; i < 9; ++i) nine[static_cast<Eigen::Index>(i)] = x.sigma[i][k];
      log->write(1, x.t[k], nine);
      for (std::size_t i = 0; i < 6; ++i) six[static_cast<Eigen::Index>(i)] = x.bias[i][k];
      log->write(2, x.t[k], six);
      for (std::size_t i = 0; i < feet_.size(); ++i) {
        contact[static_cast<Eigen::Index>(i)] = x.contact[i][k];
      }
      log->write(3, x.t[k], contact);
      log->end_row(x.t[k]);
    }
    log->finish();
  }

  Json json_of(const EstimateSummary& s) const {
    const auto components = [](const Vector3<double>& v) { return Json{v.x(), v.y(), v.z()}; };
    const auto number = [](double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); };
    Json counts;
    for (const auto& [name, count] : s.diagnostics.counts()) counts[name] = count;
    Json result = {{"filter", filter_},
                   {"begin", s.ready_at},
                   {"seconds", s.seconds},
                   {"distance", s.distance},
                   {"nis_per_row", number(s.nis)},
                   {"microseconds_per_sample", s.microseconds},
                   {"counts", counts},
                   {"truth", s.has_truth}};
    Json end;
    for (std::size_t i = 0; i < 9; ++i) end.push_back(s.series.value[i].back());
    result["end"] = end;  // p, roll pitch yaw, v
    if (s.has_truth) {
      result["rms_position"] = components(s.rms_position);
      result["rms_rotation"] = components(s.rms_rotation);
      result["rms_velocity"] = components(s.rms_velocity);
      result["drift_position"] = s.end_position;
      result["drift_height"] = s.end_height;
      result["drift_yaw"] = s.end_yaw;
      result["nees"] = s.nees;
    }
    return result;
  }

  EstimatorOptions options_;
  SensorTopics topics_;
  std::string log_, model_, imu_, output_;
  MissingMeshesOption missing_meshes_;
  std::string filter_ = "inekf", odometry_ = "position", contact_by_ = "log";
  std::vector<std::string> feet_;
  std::optional<double> walk_, make_force_, break_force_, ground_;
  std::uint64_t seed_ = 1;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_estimate() {
  return std::make_unique<Estimate>();
}

}  // namespace limb::cli
