#include "platform/run/energy_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ostream>

#include "platform/run/text_table.h"

namespace lacuna {
namespace {

using Json = nlohmann::ordered_json;

double seconds(Tick time) { return static_cast<double>(time.ps) * 1e-12; }
double mean_watts(double joules, Tick time) { return time == Tick{} ? 0 : joules / seconds(time); }
/// Formats a number with 12 significant digits: enough for energies of kernels to add up to the total, and few enough for the
/// text to be the same on all hosts.
std::string number(double value) { return fmt::format("{:.12g}", value); }

std::string readable_joules(double joules) {
  if (joules >= 1) return fmt::format("{:.3f} J", joules);
  if (joules >= 1e-3) return fmt::format("{:.3f} mJ", joules * 1e3);
  return fmt::format("{:.3f} uJ", joules * 1e6);
}

// Text such as "clock 31 %, valu 20 %, dram 11 %".
std::string largest_blocks(const KernelEnergy& energy, const std::vector<std::string>& blocks) {
  constexpr std::size_t kNamed = 4;
  const double total = energy.total();
  std::vector<std::size_t> order(std::min(blocks.size(), energy.joules.size()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return energy.joules[a] > energy.joules[b]; });
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, order.size()) && total > 0; ++i) {
    text += fmt::format("{}{} {} %", i == 0 ? "" : ", ", blocks[order[i]], fixed(100 * energy.joules[order[i]] / total, 0));
  }
  return text;
}

// Adds energies by block, with their low and high ends.
void add_blocks(const std::vector<std::string>& blocks, const std::vector<double>& joules,
                const std::vector<EnergyBounds>& bounds, Json& json) {
  for (std::size_t i = 0; i < joules.size(); ++i) json["blocks"][blocks.at(i)] = joules[i];
  for (std::size_t i = 0; i < bounds.size(); ++i) json["low_blocks"][blocks.at(i)] = bounds[i].low;
  for (std::size_t i = 0; i < bounds.size(); ++i) json["high_blocks"][blocks.at(i)] = bounds[i].high;
}

Json share_json(const EnergyMeter& meter, const EnergyShare& share) {
  const std::vector<double> joules = meter.joules(share.counts, share.picoseconds);
  const std::vector<EnergyBounds> bounds = meter.bounds(share.counts, share.picoseconds);
  const EnergyBounds total = total_of(bounds);
  Json json{{"time_ps", share.picoseconds},
            {"joules", std::accumulate(joules.begin(), joules.end(), 0.0)},
            {"low_joules", total.low},
            {"high_joules", total.high}};
  add_blocks(meter.blocks(), joules, bounds, json);
  return json;
}

}  // namespace

void write_energy_csv_header(const std::vector<std::string>& blocks, std::ostream& out) {
  if (blocks.empty()) return;
  out << ",energy_j,half_width_j,low_j,high_j,mean_w,peak_w,energy_delay_js";
  for (const std::string& block : blocks) out << ",energy_" << block << "_j";
}

void append_energy_csv(const KernelEnergy& energy, Tick time, std::string& line) {
  if (!energy.measured()) return;
  const auto column = [&line](double value) {
    line += ',';
    line += number(value);
  };
  const double total = energy.total();
  const EnergyBounds bounds = energy.total_bounds();
  column(total);
  column(energy.half_width);
  column(bounds.low);
  column(bounds.high);
  column(mean_watts(total, time));
  column(energy.peak_watts);
  column(total * seconds(time));
  for (const double joules : energy.joules) column(joules);
}

Json energy_json(const KernelEnergy& energy, const std::vector<std::string>& blocks, Tick time) {
  const double total = energy.total();
  const EnergyBounds bounds = energy.total_bounds();
  Json json{{"joules", total},
            {"half_width_joules", energy.half_width},
            {"low_joules", bounds.low},
            {"high_joules", bounds.high},
            {"mean_watts", mean_watts(total, time)},
            {"low_mean_watts", mean_watts(bounds.low, time)},
            {"high_mean_watts", mean_watts(bounds.high, time)},
            {"peak_watts", energy.peak_watts},
            {"energy_delay_js", total * seconds(time)},
            {"low_energy_delay_js", bounds.low * seconds(time)},
            {"high_energy_delay_js", bounds.high * seconds(time)}};
  add_blocks(blocks, energy.joules, energy.bounds, json);
  return json;
}

Json device_energy_json(const EnergyMeter& meter, const EnergyLedger& ledger) {
  Json json;
  const EnergyShare whole = ledger.whole();
  json["whole"] = share_json(meter, whole);
  json["kernels"] = share_json(meter, ledger.kernels());
  json["idle"] = share_json(meter, ledger.idle());
  for (std::size_t i = 0; i < meter.blocks().size(); ++i) json["static_watts"][meter.blocks()[i]] = meter.static_watts()[i];
  for (std::size_t kind = 0; kind < kStaticPowers; ++kind) {
    const std::vector<double>& watts = meter.static_watts(static_cast<StaticPower>(kind));
    Json& of_kind = json[fmt::format("{}_watts", kStaticPowerNames[kind])] = Json::object();
    for (std::size_t i = 0; i < watts.size(); ++i) {
      if (watts[i] != 0) of_kind[meter.blocks()[i]] = watts[i];
    }
  }
  for (std::size_t i = 0; i < meter.events().size(); ++i) {
    const EnergyMeter::Event& event = meter.events()[i];
    json["events"][meter.blocks()[event.block]][event.name] = {{"count", static_cast<std::uint64_t>(whole.counts[i])},
                                                               {"picojoules", event.picojoules}};
  }
  return json;
}

void write_power_csv_header(const std::vector<std::string>& blocks, std::ostream& out) {
  out << "device,begin_ps,end_ps,total_w,low_w,high_w";
  for (const std::string& block : blocks) out << ',' << block << "_w";
  out << '\n';
}

void write_power_csv(const std::string& device, const PowerSample& sample, std::ostream& out) {
  out << device << ',' << sample.begin.ps << ',' << sample.end.ps << ',' << number(sample.total()) << ','
      << number(sample.bounds.low) << ',' << number(sample.bounds.high);
  for (const double watts : sample.watts) out << ',' << number(watts);
  out << '\n';
}

void write_energy_table(const std::vector<NamedEnergy>& kernels, const std::vector<std::string>& blocks, std::ostream& out) {
  std::vector<TextRow> rows{{"", "", "energy of", "mean", "low to", "peak", "energy x", "most of it"},
                            {"kernel", "dispatches", "all", "power", "high", "power", "delay", "in"}};
  for (const NamedEnergy& k : kernels) {
    const double total = k.energy->total();
    const EnergyBounds bounds = k.energy->total_bounds();
    rows.push_back(
        {readable_kernel(k.name), grouped(k.dispatches), readable_joules(total), fixed(mean_watts(total, k.time), 1) + " W",
         fmt::format("{} to {} W", fixed(mean_watts(bounds.low, k.time), 0), fixed(mean_watts(bounds.high, k.time), 0)),
         fixed(k.energy->peak_watts, 1) + " W", fmt::format("{:.3g} Js", total * seconds(k.time)),
         largest_blocks(*k.energy, blocks)});
  }
  write_aligned(rows, out);
}

}  // namespace lacuna
