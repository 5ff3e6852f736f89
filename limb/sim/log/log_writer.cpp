#include "limb/sim/log/log_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "limb/base/check.hpp"

namespace limb {

namespace {

/// Bytes that are collected before they are written.
constexpr std::size_t kBuffer = 1 << 16;

}  // namespace

LogFile::LogFile(std::string call, const std::filesystem::path& path, std::string ending)
    : call_(std::move(call)),
      path_(path.string()),
      ending_(std::move(ending)),
      file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (file_ < 0) {
    throw Error(fmt::format("{}: cannot write {}: {}", call_, path_, std::strerror(errno)));
  }
}

LogFile::~LogFile() {
  try {
    close();
  } catch (const std::exception&) {  // destructors must not throw
  }
}

int LogFile::write_bytes(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    size_ += static_cast<std::uint64_t>(n);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

void LogFile::repair() {
  std::uint64_t kept = 0;
  for (const std::uint64_t end : ends_) {
    if (end + ending_.size() <= size_) kept = end;
  }
  const auto cut = [&] { return ::ftruncate(file_, static_cast<off_t>(kept)) == 0; };
  // Devices and pipes cannot be shortened.
  if (!cut() || ::lseek(file_, static_cast<off_t>(kept), SEEK_SET) < 0) return;
  if (kept > 0 && write_bytes(ending_) != 0) cut();
}

void LogFile::fail_write(int code) {
  if (file_ >= 0) {
    repair();
    ::close(file_);
    file_ = -1;
  }
  buffer_.clear();
  fail_computation(call_, fmt::format("cannot write {}: {}", path_, std::strerror(code)));
}

void LogFile::write(std::string_view piece) {
  if (file_ < 0) fail_write(EBADF);
  buffer_ += piece;
  ends_.push_back(size_ + buffer_.size());
  if (buffer_.size() >= kBuffer) flush();
}

void LogFile::flush(std::string_view provisional) {
  if (file_ < 0) return;
  if (provisional_) {
    if (::ftruncate(file_, static_cast<off_t>(size_)) != 0) fail_write(errno);
    provisional_ = false;
  }
  if (const int code = write_bytes(buffer_)) fail_write(code);
  buffer_.clear();
  // One end that leaves space for the ending is enough for repair().
  const auto useful = std::find_if(ends_.begin(), ends_.end(),
                                   [&](std::uint64_t end) { return end + ending_.size() > size_; });
  if (useful != ends_.begin()) ends_.erase(ends_.begin(), useful - 1);
  // pwrite() fails in pipes, and leaves the position of the next write() as it is.
  if (!provisional.empty()) {
    const ssize_t n =
        ::pwrite(file_, provisional.data(), provisional.size(), static_cast<off_t>(size_));
    provisional_ = n > 0;
  }
}

void LogFile::close(std::string_view ending) {
  if (file_ < 0) return;
  buffer_ += ending;
  flush();
  const int file = file_;
  file_ = -1;
  if (::close(file) != 0) fail_write(errno);
}

namespace {

/// One row per time, one column per number; unknown values are empty cells.
class CsvWriter final : public LogWriter {
 public:
  CsvWriter(std::unique_ptr<LogFile> file, const std::vector<LogTopic>& topics)
      : file_(std::move(file)) {
    std::string head = "t";
    for (const LogTopic& topic : topics) {
      shown_.push_back(topic.kind == LogTopic::Kind::numbers);
      first_.push_back(values_.size());
      if (!shown_.back()) continue;
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
      values_.resize(values_.size() + topic.fields.size(), std::nan(""));
    }
    file_->write(head + "\n");
  }
  void write(std::size_t topic, double, const VectorX<double>& values) override {
    if (!shown_[topic]) return;
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
  std::vector<bool> shown_;         ///< topics that are columns
  std::vector<std::size_t> first_;  ///< columns of the topics
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
                                    const std::map<std::string, std::string>& metadata,
                                    const std::vector<LogAttachment>& attachments) {
  const std::string extension = path.extension().string();
  if (extension != ".csv" && extension != ".mcap") {
    fail(call, "log", "'" + path.string() + "'", "a name that ends in .csv or .mcap");
  }
  if (extension == ".csv") {
    return make_csv_writer(std::make_unique<LogFile>(call, path), std::move(topics));
  }
  return make_mcap_writer(std::make_unique<LogFile>(call, path, mcap_ending()), std::move(topics),
                          metadata, attachments);
}

}  // namespace limb
