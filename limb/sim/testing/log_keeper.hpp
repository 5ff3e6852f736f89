#pragma once

#include <functional>

#include "limb/sim/log_writer.hpp"

namespace limb::testing {

/// A log that hands each row of each topic to a test.
class LogKeeper final : public LogWriter {
 public:
  using See = std::function<void(double t, const VectorX<double>& values)>;
  explicit LogKeeper(std::vector<LogTopic> topics) : topics_(std::move(topics)) {
    see_.resize(topics_.size());
  }
  /// @throws std::out_of_range for a topic that the log has not.
  void on(const std::string& topic, See see) { see_.at(index(topic)) = std::move(see); }
  /// Where a field stands in its topic.
  Eigen::Index field(const std::string& topic, const std::string& name) const {
    const auto& fields = topics_.at(index(topic)).fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i] == name) return static_cast<Eigen::Index>(i);
    }
    throw std::out_of_range(topic + "." + name);
  }

  void write(std::size_t topic, double t, const VectorX<double>& values) override {
    if (see_[topic]) see_[topic](t, values);
  }
  void flush() override {}
  void finish() override {}

 private:
  std::size_t index(const std::string& topic) const {
    std::size_t i = 0;
    while (i < topics_.size() && topics_[i].name != topic) ++i;
    return i;
  }
  std::vector<LogTopic> topics_;
  std::vector<See> see_;
};

}  // namespace limb::testing
