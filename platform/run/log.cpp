#include "platform/run/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <cstdio>
#include <fstream>
#include <memory>
#include <mutex>
#include <string_view>
#include <systemc>
#include <utility>

#include "models/common/config/guest_mistake.h"
#include "models/common/time/tlm_time.h"
#include "platform/run/file_size_limit.h"
#include "platform/run/kernel_log.h"
#include "platform/run/text_table.h"

namespace lacuna {
namespace {

/// Beginning of the line with the counts of the guest's mistakes at the end of a run.
constexpr const char* kGuestMistakes = "mistakes of the guest";

/// Pattern flag %*: simulated time.
class SimulatedTimeFlag : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& /*message*/, const std::tm& /*time*/, spdlog::memory_buf_t& out) override {
    const std::string text = readable_time(kernel_time());
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<SimulatedTimeFlag>(); }
};

std::unique_ptr<spdlog::formatter> line_format(const std::string& pattern) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<SimulatedTimeFlag>('*').set_pattern(pattern);
  return formatter;
}

/// Writes to stderr, on which the progress line may be visible.
class TerminalSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit TerminalSink(ProgressLine& progress) : progress_(progress) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    const HeldFileSizeSignal held;  // stderr may be a file
    progress_.begin_line();
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
  void flush_() override { std::fflush(stderr); }

  ProgressLine& progress_;
};

/// Writes to log.txt.
class FileSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FileSink(std::shared_ptr<OutputFile> file) : file_(std::move(file)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    file_->write({line.data(), line.size()});
  }
  void flush_() override { file_->flush(); }

  std::shared_ptr<OutputFile> file_;
};

void report_to_log(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  const std::string text = std::string(report.get_msg_type()) + ": " + report.get_msg() +
                           (report.get_process_name() == nullptr ? "" : std::string(" (in ") + report.get_process_name() + ')');
  if (report.get_severity() == sc_core::SC_WARNING) spdlog::warn("{}", text);
  if (report.get_severity() == sc_core::SC_INFO) spdlog::debug("{}", text);
  if ((actions & sc_core::SC_THROW) != 0) throw report;
}

}  // namespace

void open_log(ProgressLine& progress) {
  auto terminal = std::make_shared<TerminalSink>(progress);
  terminal->set_level(spdlog::level::warn);
  terminal->set_formatter(line_format("lacuna: %l at %*: %v"));
  auto logger = std::make_shared<spdlog::logger>("lacuna", std::move(terminal));
  logger->set_level(spdlog::level::info);
  logger->flush_on(spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
}

void log_to_file(std::shared_ptr<OutputFile> file) {
  auto sink = std::make_shared<FileSink>(std::move(file));
  sink->set_formatter(line_format("[%*] %l: %v"));  // logged_trouble() parses this format
  spdlog::default_logger()->sinks().push_back(std::move(sink));
}

LoggedTrouble logged_trouble(const std::filesystem::path& log_file) {
  LoggedTrouble trouble;
  std::ifstream log(log_file, std::ios::binary);
  for (std::string line; std::getline(log, line);) {
    // "[TIME] LEVEL: TEXT"; further lines of an entry have no such beginning.
    const std::size_t time_end = line.find("] ");
    if (!line.starts_with('[') || time_end == std::string::npos) continue;
    const std::string_view rest = std::string_view(line).substr(time_end + 2);
    const std::size_t level_end = rest.find(": ");
    if (level_end == std::string_view::npos) continue;
    const auto level = spdlog::level::from_str(std::string(rest.substr(0, level_end)));
    const auto entry = [&] { return "at " + line.substr(1, time_end - 1) + ": " + std::string(rest.substr(level_end + 2)); };
    if (level == spdlog::level::warn && rest.find(kGuestMistakes) == std::string_view::npos) trouble.last_warning = entry();
    if (level != spdlog::level::err && level != spdlog::level::critical) continue;
    trouble.error = entry();
    break;
  }
  return trouble;
}

void log_guest_mistakes() {
  std::string list;
  for (const GuestMistakeCount& kind : guest_mistakes()) {
    list += (list.empty() ? "" : ", ") + grouped(kind.count) + ' ' + kind.kind;
  }
  if (!list.empty()) spdlog::warn("{}: {}", kGuestMistakes, list);
}

void route_systemc_reports() {
  using sc_core::sc_report_handler;
  sc_report_handler::set_handler(report_to_log);
  sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_LOG);
  sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_LOG);
  sc_report_handler::set_actions(sc_core::SC_ERROR, sc_core::SC_LOG | sc_core::SC_THROW);
  sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_LOG | sc_core::SC_THROW);
}

}  // namespace lacuna
