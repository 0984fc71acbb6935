#include "platform/run/look_up_recorder.h"

#include <fmt/format.h>
#include <array>
#include <ostream>
#include <sstream>
#include <string_view>

namespace lacuna {
namespace {

using Kind = HistoryEvent::Kind;

constexpr std::array<std::string_view, 10> kEvents{"find",      "allocate", "relay",    "hold",   "retire",
                                                   "overwrite", "drop",     "drop_all", "forget", "reset"};
constexpr std::array<std::string_view, 4> kMisses{"compulsory", "released", "conflict", "capacity"};
static_assert(kEvents.size() == static_cast<std::size_t>(Kind::reset) + 1);
static_assert(kMisses.size() == static_cast<std::size_t>(HistoryMiss::capacity) + 1);

std::string number(std::uint16_t value, std::uint16_t none) { return value == none ? "" : std::to_string(value); }

std::string line_of(const HistoryEvent& e) {
  std::string line = fmt::format("{},", kEvents.at(static_cast<std::size_t>(e.kind)));
  const bool has_tag = e.kind == Kind::find || e.kind == Kind::allocate;
  const bool has_time = e.kind == Kind::find || e.kind == Kind::retire || e.kind == Kind::overwrite || e.kind == Kind::drop ||
                        e.kind == Kind::drop_all;
  if (has_time) line += std::to_string(e.at.ps);
  line += ',';
  if (has_tag || e.kind == Kind::drop || e.kind == Kind::forget) line += std::to_string(e.tag.convolution);
  if (has_tag) {
    const TileTag& tile = e.tag.tile;
    line += fmt::format(",{},{},{},{},{},{},{},{}", e.tag.simd, tile.first.image, tile.first.element,
                        number(tile.filter_x, TileTag::kAny), number(tile.filter_y, TileTag::kAny), tile.form.rows,
                        tile.form.columns, e.zeros);
  } else {
    line += ",,,,,,,,";
  }
  line += e.entry == 0 ? "," : fmt::format(",{}", e.entry);
  if (e.registers.first == TileRegisters::kNone) {
    line += ",,,";
  } else {
    line += fmt::format(",{},{},{}", e.registers.simd, e.registers.first, number(e.registers.second, TileRegisters::kNone));
  }
  line += ',';
  if (e.kind == Kind::find)
    line += e.entry != 0 ? "hit" : kMisses.at(static_cast<std::size_t>(e.miss));
  else if (e.kind == Kind::overwrite || e.kind == Kind::drop || e.kind == Kind::drop_all)
    line += std::to_string(e.gone);
  return line;
}

}  // namespace

void write_look_ups_csv_header(std::ostream& out) {
  out << "device,unit,event,at_ps,convolution,tag_simd,image,element,filter_x,filter_y,rows,columns,zeros,entry,simd,first,"
         "second,outcome\n";
}

void write_look_ups_csv(const std::string& device, unsigned unit, const std::vector<HistoryEvent>& events, std::ostream& out) {
  for (const HistoryEvent& event : events) out << device << ',' << unit << ',' << line_of(event) << '\n';
}

void LookUpRecorder::add(GpuDevice& device) {
  auto* const duplo = device.extension<Duplo>();
  if (duplo != nullptr && duplo->has_trace()) devices_.push_back({device.basename(), duplo});
}

void LookUpRecorder::record_to(std::shared_ptr<OutputFile> csv) {
  std::ostringstream header;
  write_look_ups_csv_header(header);
  csv->write(header.view());
  for (const Device& device : devices_) {
    device.duplo->trace_to([csv, name = device.name](unsigned unit, const std::vector<HistoryEvent>& events) {
      std::ostringstream lines;
      write_look_ups_csv(name, unit, events, lines);
      csv->write(lines.view());
    });
  }
}

void LookUpRecorder::finish() {
  for (const Device& device : devices_) device.duplo->finish_trace();
}

}  // namespace lacuna
