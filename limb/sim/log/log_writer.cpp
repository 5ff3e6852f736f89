#include "limb/sim/log/log_writer.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>

#include "limb/base/check.hpp"

namespace limb {

LogFile::LogFile(std::string call, const std::filesystem::path& path)
    : call_(std::move(call)), path_(path.string()), file_(std::fopen(path_.c_str(), "wb")) {
  if (file_ == nullptr) {
    throw Error(fmt::format("{}: cannot write {}: {}", call_, path_, std::strerror(errno)));
  }
}

LogFile::~LogFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void LogFile::fail_write() const {
  fail_computation(call_, fmt::format("cannot write {}: {}", path_, std::strerror(errno)));
}

void LogFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail_write();
}

void LogFile::flush() {
  if (std::fflush(file_) != 0) fail_write();
}

void LogFile::close() {
  if (file_ == nullptr) return;
  std::FILE* file = file_;
  file_ = nullptr;
  if (std::fclose(file) != 0) fail_write();
}

namespace {

/// One row per time, one column per number; unknown values are empty cells.
class CsvWriter final : public LogWriter {
 public:
  CsvWriter(std::unique_ptr<LogFile> file, const std::vector<LogTopic>& topics)
      : file_(std::move(file)) {
    std::string head = "t";
    for (const LogTopic& topic : topics) {
      for (const std::string& field : topic.fields) {
        // Names come from files and may contain any character.
        std::string name = topic.name + "." + field;
        if (name.find_first_of(",\"\n") != std::string::npos) {
          std::string quoted = "\"";
          for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
          name = quoted + "\"";
        }
        head += "," + name;
      }
      first_.push_back(values_.size());
      values_.resize(values_.size() + topic.fields.size(), std::nan(""));
    }
    file_->write(head + "\n");
  }
  void write(std::size_t topic, double, const VectorX<double>& values) override {
    std::copy(values.begin(), values.end(),
              values_.begin() + static_cast<std::ptrdiff_t>(first_[topic]));
  }
  void end_row(double t) override {
    row_.clear();
    fmt::format_to(std::back_inserter(row_), "{}", t);
    for (const double value : values_) {
      if (std::isnan(value)) {
        row_ += ',';
      } else {
        fmt::format_to(std::back_inserter(row_), ",{}", value);
      }
    }
    row_ += '\n';
    file_->write(row_);
  }
  void flush() override { file_->flush(); }
  void finish() override { file_->close(); }

 private:
  std::unique_ptr<LogFile> file_;
  std::vector<std::size_t> first_;
  std::vector<double> values_;
  std::string row_;
};

}  // namespace

std::unique_ptr<LogWriter> make_csv_writer(std::unique_ptr<LogFile> file,
                                           std::vector<LogTopic> topics) {
  return std::make_unique<CsvWriter>(std::move(file), topics);
}

std::unique_ptr<LogWriter> open_log(const std::string& call, const std::filesystem::path& path,
                                    std::vector<LogTopic> topics,
                                    const std::map<std::string, std::string>& metadata) {
  const std::string extension = path.extension().string();
  if (extension != ".csv" && extension != ".mcap") {
    fail(call, "log", "'" + path.string() + "'", "a name that ends in .csv or .mcap");
  }
  auto file = std::make_unique<LogFile>(call, path);
  if (extension == ".csv") return make_csv_writer(std::move(file), std::move(topics));
  return make_mcap_writer(std::move(file), std::move(topics), metadata);
}

}  // namespace limb
