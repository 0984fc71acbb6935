#include "platform/sida/job_arrays_csv.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <fstream>
#include <ostream>
#include <string_view>

#include "platform/configuration.h"

namespace lacuna {
namespace {

constexpr std::string_view kHeader = "device,job,array,address,bus_address,bytes";
constexpr std::size_t kFields = 6;

/// A line of the file while it is read.
struct Line {
  std::string file;
  std::size_t number = 0;
  std::array<std::string_view, kFields> cells;

  [[noreturn]] void fail(const std::string& why) const {
    throw ConfigurationError(fmt::format("{}:{}: {}", file, number, why));
  }
  void split(std::string_view text) {
    for (std::size_t column = 0; column < kFields; ++column) {
      const std::size_t end = text.find(',');
      if ((end == std::string_view::npos) != (column + 1 == kFields))
        fail(fmt::format("a line of job_arrays.csv has {} columns: {}", kFields, kHeader));
      cells[column] = text.substr(0, end);
      if (end != std::string_view::npos) text.remove_prefix(end + 1);
    }
  }
  std::uint64_t number_in(std::size_t column, int base) const {
    std::string_view text = cells[column];
    if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty())
      fail(fmt::format("\"{}\" is not a number", cells[column]));
    return value;
  }
};

}  // namespace

void write_job_arrays_csv_header(std::ostream& out) { out << kHeader << '\n'; }

void write_job_arrays_csv(const std::string& device, const SidaJobRecord& job, std::ostream& out) {
  for (const SidaJobArray& array : job.arrays)
    out << fmt::format("{},{},{},{:#x},{:#x},{}\n", device, job.number, array.name, array.address, array.bus_address,
                       array.bytes);
}

void write_job_arrays_csv_reference(std::ostream& out) {
  out << "| column | meaning |\n|---|---|\n"
         "| `device` | GPU |\n"
         "| `job` | number of the job, as in jobs.csv; a job whose program is not valid has no lines |\n"
         "| `array` | `matrix0.by_columns.offsets` and so on, as the program's structures name them below; `vector0` and so "
         "on, "
         "before any swap; `program` |\n"
         "| `address` | GPU virtual address |\n"
         "| `bus_address` | bus address of the same byte; an array whose pages do not follow each other has several lines |\n"
         "| `bytes` | size |\n";
}

std::vector<SidaJobArray> read_job_arrays_csv(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw ConfigurationError(file + ": cannot be read");
  Line line{.file = file, .number = 1, .cells = {}};
  std::string text;
  if (!std::getline(in, text) || text != kHeader)
    line.fail(fmt::format("not a job_arrays.csv, which begins with the line {}", kHeader));
  std::vector<SidaJobArray> arrays;
  std::string device;
  std::uint64_t job = 0;
  while (std::getline(in, text)) {
    ++line.number;
    line.split(text);
    if (arrays.empty()) {
      device = line.cells[0];
      job = line.number_in(1, 10);
    }
    if (line.cells[0] != device || line.number_in(1, 10) != job) continue;
    arrays.push_back({std::string(line.cells[2]), line.number_in(3, 16), line.number_in(4, 16), line.number_in(5, 10)});
  }
  if (arrays.empty()) line.fail("it lists no job");
  return arrays;
}

}  // namespace lacuna
