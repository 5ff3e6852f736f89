#include "cli/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "cli/choice.hpp"
#include "cli/estimate_noise.hpp"
#include "cli/estimate_report.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_document.hpp"
#include "cli/log_map.hpp"
#include "cli/png.hpp"
#include "cli/robot_options.hpp"
#include "cli/write_walk_log.hpp"
#include "limb/base/text_file.hpp"
#include "limb/math/euler.hpp"
#include "limb/model/core/load.hpp"
#include "limb/sim/log/log_writer.hpp"

namespace limb::cli {
namespace {

using Json = nlohmann::json;

/// Exit status by the verdict on the estimate.
constexpr Exit kOverconfident{3}, kLost{4};

/// A log is processed in parts of this many rows.
constexpr std::size_t kPart = 4096;

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
           "walk, then reads it\n"
           "  limb estimate run.mcap --feet lf,rf,lh,rh --smooth -o run.csv  smoothed, for offline "
           "use\n"
           "  limb estimate still.csv --model hyq.urdf --feet lf_foot,rf_foot --calibrate "
           "noise.toml\n"
           "  limb estimate bag.csv --model hyq.urdf --feet lf_foot,rf_foot --map topics.toml\n";
  }
  std::string_view notes() const override {
    return "Topics: imu (fx fy fz wx wy wz), position and velocity (one field per joint), contact\n"
           "(one field per foot: 0 or 1, or newtons), truth or state (q., v.) to compare with.\n"
           "From limb simulate: sensors of the types accelerometer, gyroscope, position, "
           "velocity,\n"
           "and contact or force named after the foot; otherwise the forces of [[contact.foot]].\n"
           "Log formats: docs/estimation.md. The robot must stand still for a second before it\n"
           "moves, unless --start gives its state. The output format follows from the file name:\n"
           ".html, .svg, .png, or a log, .csv or .mcap.\n"
           "The last line is a verdict: consistent (exit status 0), overconfident (3: innovations\n"
           "are larger than stated), lost at a time (4: the state had to be reset).\n";
  }
  void add_options(CLI::App& app) override {
    app.add_option("LOG", log_, "log: .csv or .mcap")->required();
    app.add_option("--model", model_, "robot of the log, default the one named in the log")
        ->type_name("MODEL");
    app.add_option("--root", roots_, "folder for package:// and relative paths; repeatable")
        ->type_name("FOLDER");
    missing_meshes_.add(app);
    unsupported_.add(app);
    add_names(app, "--feet", feet_, "frames of the feet")->required();
    app.add_option("--imu", imus_,
                   "frame of the IMU, default the base frame; several: their topics have the same "
                   "names")
        ->delimiter(',')
        ->type_name("LIST");
    app.add_option("--noise", noise_,
                   "noise: auto (measured in the log), a file of --calibrate, or "
                   "GYRO,ACCEL,GYRO_WALK,ACCEL_WALK,CONTACT; default auto")
        ->type_name("NOISE");
    app.add_option("--calibrate", calibrate_, "measures the noise of a log at rest, and ends")
        ->type_name("FILE");
    app.add_option("--map", map_, "names of the log: a TOML file, or TOPIC.FIELD=COLUMN")
        ->type_name("MAP");
    app.add_option("--start", start_, "initial x,y,z,roll,pitch,yaw[,vx,vy,vz] instead of rest")
        ->delimiter(',')
        ->type_name("LIST");
    add_choice(app, "--terrain", terrain_, "unknown, flat or steps, default unknown",
               {"unknown", "flat", "steps"});
    add_choice(app, "--contact-kind", contact_kind_,
               "contacts in the log: force (also 0 and 1) or probability, default force",
               {"force", "probability"});
    add_choice(app, "--filter", filter_,
               "inekf (right-invariant) or eskf (error state), default inekf", {"inekf", "eskf"});
    add_choice(app, "--odometry", odometry_,
               "measure feet by position or velocity, default position", {"position", "velocity"});
    add_choice(app, "--contact-by", contact_by_,
               "source of contacts: log, torque or always, default log",
               {"log", "torque", "always"});
    app.add_option("-o,--output", output_, "report, picture or log")->type_name("FILE");
    app.add_flag("--smooth", smooth_,
                 "fixed-interval smoothing: each estimate uses the whole log, not only its past");
    app.add_flag("--json", json_, "the summary as JSON");
    const auto number = [&](const char* option, double& value, const char* unit,
                            const std::string& text) {
      add_number(app, option, value, unit, text, NumberRange::not_negative());
    };
    // Numbers that --noise would set otherwise.
    const auto noise = [&](const char* option, double& value, const char* unit,
                           const std::string& text) {
      own_.push_back({&value, {}});
      add_number(app, option, own_.back().given, unit, text, NumberRange::not_negative());
    };
    own_.reserve(8);
    noise("--gyro-noise", options_.imu.gyro, "RAD/S/RTHZ", "gyroscope noise density");
    noise("--accel-noise", options_.imu.accel, "M/S2/RTHZ", "accelerometer noise density");
    noise("--gyro-walk", options_.imu.gyro_walk, "RAD/S/RTS", "random walk of the gyroscope bias");
    noise("--accel-walk", options_.imu.accel_walk, "M/S2/RTS",
          "random walk of the accelerometer bias");
    noise("--encoder-noise", options_.encoder, "RAD", "noise of joint positions");
    noise("--contact-noise", options_.contact_noise, "M/RTS", "random walk of a foot in contact");
    noise("--foot-error", options_.foot_error, "M", "error of the leg kinematics");
    number("--foot-radius", options_.foot_radius, "M",
           "radius of ball feet, whose frames are at the centre: they roll");
    app.add_option("--sole", sole_,
                   "length and width of flat soles, m: they keep their orientation")
        ->delimiter(',')
        ->expected(2)
        ->type_name("L,W");
    number("--fix-delay", topics_.fix_delay, "S", "time from a fix to its stamp");
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
    options_.terrain = terrain_ == "flat"    ? Terrain::flat
                       : terrain_ == "steps" ? Terrain::steps
                                             : Terrain::unknown;
    if (!sole_.empty()) {
      options_.sole_length = sole_[0];
      options_.sole_width = sole_[1];
    }
    const NoiseChoice choice = read_noise(kCall, noise_, options_);
    const auto use_own = [&] {
      for (const OwnNumber& one : own_) {
        if (one.given) *one.value = *one.given;
      }
    };
    use_own();
    // Numbers that are given hold.
    options_.adapt =
        choice.from_log && std::none_of(own_.begin(), own_.end(),
                                        [](const OwnNumber& one) { return one.given.has_value(); });
    const Interrupt interrupt;
    check_output();
    const std::optional<InitialState> start = initial_state();
    const LogMap map = read_log_map(kCall, map_);
    if (walk_) make_walk();
    const ContactSource source = contact_by_ == "torque"   ? ContactSource::torque
                                 : contact_by_ == "always" ? ContactSource::always
                                                           : ContactSource::log;
    LogData log;
    const auto open = [&] {
      log = {};
      return LogStream::open(kCall, log_, map.time, map.time_unit);
    };
    // A part of the log, mapped; false at the end. The log itself stays as read.
    const auto next_part = [&](LogStream& stream, LogData& mapped) {
      if (!stream.next(log, kPart)) return false;
      mapped = log;
      apply_map(kCall, map, mapped);
      return true;
    };
    LogData part;
    LogStream first = open();
    if (!next_part(first, part)) throw Error(fmt::format("{}: {} has no rows", kCall, log_));
    const Model<double> model = load(part);
    topics_.imus = imus_;
    const LegKinematics legs = imus_.size() > 1
                                   ? LegKinematics(model, feet_, mean_imu(kCall, model, imus_))
                                   : LegKinematics(model, feet_, imus_.empty() ? "" : imus_[0]);
    set_contacts(model);
    // The first pass: noise, and the truth at the start.
    LogSurvey survey(legs, options_, source);
    std::string notice;
    bool more = true;
    do {
      const SensorLog sensors = read_sensors(kCall, part, legs, topics_);
      if (notice.empty()) notice = sensors.notice;
      more = survey.add(sensors);
    } while (more && next_part(first, part));
    if (!calibrate_.empty()) {
      write_noise(kCall, calibrate_, log_, survey.noise(), options_);
      EstimatorOptions measured = options_;
      out << fmt::format("{}: {}\n", calibrate_, use_measured(survey.noise(), measured));
      return Exit::ok;
    }
    std::string noise_text = choice.source;
    if (choice.from_log) {
      if (imus_.size() > 1) {
        // The mean of several sensors; the measured noise is already that of the mean.
        const double root = std::sqrt(static_cast<double>(imus_.size()));
        options_.imu.gyro /= root;
        options_.imu.accel /= root;
      }
      noise_text = use_measured(survey.noise(), options_);
      use_own();
    }
    if (survey.has_truth()) {
      options_.initial.p_WB = survey.p_WB();
      options_.initial.yaw = survey.yaw();
    }
    EstimateRun run(kCall, legs, options_, source, start, smooth_);
    std::unique_ptr<LogWriter> writer;
    if (output_.ends_with(".csv") || output_.ends_with(".mcap")) {
      writer = open_output(model);
      run.on_row = [&, next = 0.0](const EstimateRun::Row& row) mutable {
        constexpr double kPeriod = 1. / 30;  // s
        if (row.t >= next) {
          write_pose(*writer, row);
          next = row.t + kPeriod;
        }
        write_row(*writer, row);
      };
    }
    LogStream second = open();
    while (next_part(second, part)) run.add(read_sensors(kCall, part, legs, topics_));
    const EstimateSummary summary = run.finish();
    if (writer) {
      writer->finish();
    } else if (!output_.empty()) {
      write_output(summary, notice + ". Noise: " + noise_text);
    }
    const Exit status = summary.verdict.verdict == Verdict::lost            ? kLost
                        : summary.verdict.verdict == Verdict::overconfident ? kOverconfident
                                                                            : Exit::ok;
    if (json_) {
      out << json_document(json_of(summary));
      return status;
    }
    out << fmt::format("{} by {}{}\n", model.name(), filter_, smooth_ ? ", smoothed" : "");
    out << fmt::format("  {:<24} {}\n", "noise", noise_text);
    for (const auto& [name, value] : estimate_rows(summary, feet_)) {
      out << fmt::format("  {:<24} {}\n", name, value);
    }
    return status;
  }

 private:
  static constexpr const char* kCall = "limb estimate";

  /// A number that overrides that of --noise.
  struct OwnNumber {
    double* value;
    std::optional<double> given;
  };

  std::optional<InitialState> initial_state() const {
    if (start_.empty()) return {};
    if (start_.size() != 6 && start_.size() != 9) {
      fail(kCall, "--start", fmt::format("{} numbers", start_.size()),
           "6 (x,y,z,roll,pitch,yaw) or 9 (and vx,vy,vz)");
    }
    InitialState state;
    state.p_WB = {start_[0], start_[1], start_[2]};
    state.rpy = {start_[3], start_[4], start_[5]};
    if (start_.size() == 9) state.v_WB = {start_[6], start_[7], start_[8]};
    return state;
  }

  void set_contacts(const Model<double>& model) {
    const double weight = model.total_mass() * model.gravity().norm();
    constexpr double kShare = 0.2, kLikely = 0.5, kUnlikely = 0.3;
    const bool probability = contact_kind_ == "probability";
    options_.contact.make_force =
        make_force_.value_or(probability  ? kLikely
                             : weight > 0 ? kShare * weight / static_cast<double>(feet_.size())
                                          : 1);
    options_.contact.break_force =
        break_force_.value_or(probability ? kUnlikely : options_.contact.make_force / 2);
  }

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
    options.roots.assign(roots_.begin(), roots_.end());
    options.missing_meshes = missing_meshes_.value();
    options.unsupported = unsupported_.value();
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
    walking.imu = imus_.empty() ? "" : imus_[0];
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
    const std::string title =
        log_.substr(log_.find_last_of('/') + 1) + ", " + filter_ + (smooth_ ? ", smoothed" : "");
    const std::string text = output_.ends_with(".html")
                                 ? estimate_page(summary, feet_, title, notice)
                                 : estimate_charts(summary, feet_);
    write_text_file(kCall, output_,
                    output_.ends_with(".png") ? png_of_svg(kCall, text, 1.5) : text);
  }

  std::unique_ptr<LogWriter> open_output(const Model<double>& model) const {
    constexpr LogTopic::Kind kNumbers = LogTopic::Kind::numbers;
    const std::string base_link = model.bodies()[1].link;
    const std::vector<std::string> units = {"m",   "m",   "m",   "rad", "rad",
                                            "rad", "m/s", "m/s", "m/s"};
    const std::vector<std::string> names = {"p.x", "p.y", "p.z", "roll", "pitch",
                                            "yaw", "v.x", "v.y", "v.z"};
    return open_log(kCall, output_,
                    {{"estimate", names, kNumbers, units},
                     {"sigma", names, kNumbers, units},
                     {"bias",
                      {"wx", "wy", "wz", "fx", "fy", "fz"},
                      kNumbers,
                      {"rad/s", "rad/s", "rad/s", "m/s^2", "m/s^2", "m/s^2"}},
                     {"contact", feet_, kNumbers, std::vector<std::string>(feet_.size(), "1")},
                     {"tf", {base_link}, LogTopic::Kind::frame_transforms}},
                    {{"filter", filter_}, {"robot", model.name()}});
  }

  /// Adds the pose of the base, for viewers.
  static void write_pose(LogWriter& log, const EstimateRun::Row& row) {
    Eigen::Matrix<double, 7, 1> pose;
    pose.head<3>() = row.value.head<3>();
    pose.tail<4>() =
        Eigen::Quaterniond(rpy_to_matrix(row.value[3], row.value[4], row.value[5])).coeffs();
    log.write(4, row.t, pose);
  }
  static void write_row(LogWriter& log, const EstimateRun::Row& row) {
    log.write(0, row.t, row.value);
    log.write(1, row.t, row.sigma);
    log.write(2, row.t, row.bias);
    log.write(3, row.t, row.contact);
    log.end_row(row.t);
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
                   {"smoothed", s.smoothed},
                   {"truth", s.has_truth}};
    Json end, deviations;
    for (Eigen::Index i = 0; i < 9; ++i) {
      end.push_back(s.end[i]);
      deviations.push_back(s.end_sigma[i]);
    }
    result["end"] = end;  // p, roll pitch yaw, v
    result["end_deviation"] = deviations;
    result["verdict"] = {{"verdict", to_text(s.verdict.verdict)},
                         {"t", number(s.verdict.t)},
                         {"reason", s.verdict.reason},
                         {"nis_per_row", number(s.verdict.nis_per_row)},
                         {"worst_window", number(s.verdict.worst_window)},
                         {"refused", s.verdict.refused}};
    for (std::size_t i = 0; i < s.feet.size(); ++i) {
      const FootStatistics& foot = s.feet[i];
      result["feet"][feet_[i]] = {{"measured", foot.measured},
                                  {"used", foot.used},
                                  {"refused", foot.refused},
                                  {"slips", foot.slips},
                                  {"nis_per_row", number(foot.nis_per_row())},
                                  {"longest_refusal", foot.longest_refusal}};
    }
    result["noise"] = {
        {"gyro", s.options.imu.gyro},           {"accel", s.options.imu.accel},
        {"gyro_walk", s.options.imu.gyro_walk}, {"accel_walk", s.options.imu.accel_walk},
        {"contact", s.options.contact_noise},   {"foot_error", s.options.foot_error},
        {"encoder", s.options.encoder}};
    Json events = Json::array();
    for (const auto& event : s.events) {
      Json one = {{"t", event.t}, {"event", to_text(event.kind)}, {"size", number(event.size)}};
      if (event.foot >= 0) one["foot"] = feet_[static_cast<std::size_t>(event.foot)];
      events.push_back(one);
    }
    result["events"] = events;
    if (s.has_truth) {
      if (s.smoothed) result["filter_rms_position"] = s.filter_rms_position;
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
  std::string log_, model_, output_, calibrate_, noise_ = "auto", terrain_ = "unknown",
                                                 contact_kind_ = "force";
  std::vector<std::string> imus_, map_, roots_;
  std::vector<double> start_, sole_;
  std::vector<OwnNumber> own_;
  MissingMeshesOption missing_meshes_;
  UnsupportedOption unsupported_;
  std::string filter_ = "inekf", odometry_ = "position", contact_by_ = "log";
  std::vector<std::string> feet_;
  std::optional<double> walk_, make_force_, break_force_, ground_;
  std::uint64_t seed_ = 1;
  bool json_ = false, smooth_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_estimate() {
  return std::make_unique<Estimate>();
}

}  // namespace limb::cli
