#pragma once

#include <functional>

#include "limb/sim/log/log_writer.hpp"

namespace limb::testing {

/// A log that passes each row of a topic to a callback.
class LogObserver final : public LogWriter {
 public:
  using Callback = std::function<void(double t, const VectorX<double>& values)>;
  explicit LogObserver(std::vector<LogTopic> topics) : topics_(std::move(topics)) {
    callbacks_.resize(topics_.size());
  }
  /// @throws std::out_of_range for an unknown topic.
  void on(const std::string& topic, Callback callback) {
    callbacks_.at(index(topic)) = std::move(callback);
  }
  /// Index of a field in its topic.
  Eigen::Index field(const std::string& topic, const std::string& name) const {
    const auto& fields = topics_.at(index(topic)).fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i] == name) return static_cast<Eigen::Index>(i);
    }
    throw std::out_of_range(topic + "." + name);
  }

  void write(std::size_t topic, double t, const VectorX<double>& values) override {
    if (callbacks_[topic]) callbacks_[topic](t, values);
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
  std::vector<Callback> callbacks_;
};

}  // namespace limb::testing
