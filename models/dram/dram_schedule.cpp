#include "models/dram/dram_schedule.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

namespace lacuna {
namespace {

DramOrganization organization(const DramParameters& p) {
  for (const unsigned count : {p.pseudo_channels, p.bank_groups, p.banks_per_group, p.bytes_per_cycle}) {
    if (!std::has_single_bit(count)) throw std::invalid_argument("DRAM: counts and widths are powers of two");
  }
  const std::uint64_t burst = p.burst.n * p.bytes_per_cycle;
  if (!std::has_single_bit(burst) || !std::has_single_bit(p.row_size.n) || p.row_size.n < burst) {
    throw std::invalid_argument("DRAM: a row of " + std::to_string(p.row_size.n) +
                                " bytes is not a power of two of bursts of " + std::to_string(burst));
  }
  if (p.write_low > p.write_high) throw std::invalid_argument("DRAM: write_low is at most write_high");
  if (p.tREFI.n != 0 && p.tREFI.n <= p.tRAS.n + p.tRP.n + p.tRFC.n) {
    throw std::invalid_argument("DRAM: tREFI is longer than tRAS + tRP + tRFC, or there is no time between refreshes");
  }
  return {p.pseudo_channels, p.bank_groups, p.banks_per_group, static_cast<unsigned>(p.row_size.n / burst)};
}

}  // namespace

DramSchedule::DramSchedule(const DramParameters& parameters, DramChannelPlace place)
    : parameters_(parameters),
      clock_(parameters.clock),
      map_(parameters.address_map, organization(parameters)),
      burst_shift_(static_cast<unsigned>(std::countr_zero(parameters.burst.n * parameters.bytes_per_cycle))),
      group_bits_(static_cast<unsigned>(std::countr_zero(parameters.bank_groups))),
      bank_bits_(static_cast<unsigned>(std::countr_zero(parameters.banks_per_group))),
      pseudo_bits_(static_cast<unsigned>(std::countr_zero(parameters.pseudo_channels))),
      refresh_(parameters.tREFI.n, place, parameters.refresh_stagger == DramRefreshStagger::channels),
      commands_(parameters_, refresh_, statistics_),
      forecast_(parameters_, refresh_) {}

DramSchedule::Read DramSchedule::read(std::uint64_t address, unsigned length, Tick at) {
  const Cycle burst_cycles = parameters_.burst.n;
  const std::uint64_t first = address >> burst_shift_;
  const std::uint64_t last = (address + length - 1) >> burst_shift_;
  const Cycle arrival = clock_.ceil(at).n;
  Cycle done = arrival;
  Cycle longest = 0;
  for (std::uint64_t number = first; number <= last; ++number) {
    if (commands_.is_pending(number)) {
      ++statistics_.forwarded;
      done = std::max(done, arrival + burst_cycles);
      longest = std::max(longest, burst_cycles);
      continue;
    }
    const CommandScheduler::Burst burst = locate(number);
    const Cycle start = commands_.room_for_read(arrival);
    const ReadForecast::Column column = forecast_.read(commands_, burst, start);
    commands_.read(burst, arrival, start, column.at);
    statistics_.bus_busy += time(burst_cycles);
    statistics_.row_hits += column.command == CommandScheduler::Command::column;
    statistics_.row_empty += column.command == CommandScheduler::Command::activate;
    statistics_.row_conflicts += column.command == CommandScheduler::Command::precharge;
    // Bursts of other pseudo channels overlap, those of one follow each other.
    const Cycle unloaded = column.prepared + parameters_.tCL.n + (((number - first) >> pseudo_bits_) + 1) * burst_cycles;
    longest = std::max(longest, unloaded);
    const Cycle data = column.at + parameters_.tCL.n + burst_cycles;
    const std::int64_t share =
        std::max(commands_.share(), static_cast<std::int64_t>(arrival + unloaded) - static_cast<std::int64_t>(data));
    commands_.pay(share);
    done = std::max(done, data + static_cast<Cycle>(share));
  }
  const Tick finished = time(done);
  const Tick unloaded = time(longest);
  const Tick waiting = finished > at + unloaded ? finished - at - unloaded : Tick{};
  statistics_.queueing += waiting;
  return {finished, waiting};
}

Tick DramSchedule::write(std::uint64_t address, unsigned length, Tick at) {
  const std::uint64_t last = (address + length - 1) >> burst_shift_;
  Tick accepted = at;
  for (std::uint64_t number = address >> burst_shift_; number <= last; ++number) {
    const Cycle cycle = clock_.ceil(accepted).n;
    const CommandScheduler::Burst burst = locate(number);
    const Cycle room = forecast_.write(commands_, burst, cycle);
    const Cycle enters = commands_.write(burst, cycle, room);
    if (enters > cycle) accepted = time(enters);
  }
  return accepted;
}

void DramSchedule::retire(Tick horizon) {
  const Cycle cycle = clock_.floor(horizon).n;
  commands_.advance(cycle);
  forecast_.retire(cycle);
}

void DramSchedule::reset() {
  commands_.reset();
  forecast_.reset();
}

}  // namespace lacuna
