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

DramSchedule::DramSchedule(const DramParameters& parameters, DramChannelPlace place, std::size_t reads_in_flight)
    : parameters_(parameters),
      clock_(parameters.clock),
      map_(parameters.address_map, organization(parameters)),
      burst_shift_(static_cast<unsigned>(std::countr_zero(parameters.burst.n * parameters.bytes_per_cycle))),
      pseudo_bits_(static_cast<unsigned>(std::countr_zero(parameters.pseudo_channels))),
      burst_(parameters.burst.n),
      data_(parameters.tCL.n + parameters.burst.n),
      burst_time_(time(burst_)),
      refresh_(parameters.tREFI.n, place, parameters.refresh_stagger == DramRefreshStagger::channels),
      rows_found_{&statistics_.row_empty, &statistics_.row_hits, &statistics_.row_conflicts, &statistics_.row_empty},
      commands_(parameters_, refresh_, statistics_, reads_in_flight),
      forecast_(parameters_, refresh_) {}

DramSchedule::Read DramSchedule::read(std::uint64_t address, unsigned length, Tick at) {
  const std::uint64_t first = address >> burst_shift_;
  const std::uint64_t last = (address + length - 1) >> burst_shift_;
  const Cycle arrival = clock_.ceil(at).n;
  Cycle done = arrival;
  Cycle longest = 0;
  for (std::uint64_t number = first; number <= last; ++number) {
    if (commands_.is_pending(number)) [[unlikely]] {
      ++statistics_.forwarded;
      done = std::max(done, arrival + burst_);
      longest = std::max(longest, burst_);
      continue;
    }
    const CommandScheduler::Burst burst = locate(number);
    const Cycle start = commands_.room_for_read(commands_.sent(arrival, data_));
    const ReadForecast::Column column = forecast_.read(commands_, burst, start);
    commands_.read(burst, arrival, start, column.at);
    statistics_.bus_busy += burst_time_;
    ++*rows_found_[static_cast<std::size_t>(column.command)];
    // Bursts of other pseudo channels overlap, those of one follow each other.
    const Cycle unloaded = column.prepared + data_ + ((number - first) >> pseudo_bits_) * burst_;
    longest = std::max(longest, unloaded);
    const Cycle data = column.at + data_;
    const std::int64_t share =
        std::max(commands_.share(), static_cast<std::int64_t>(arrival + unloaded) - static_cast<std::int64_t>(data));
    commands_.pay(share);
    const Cycle answer = data + static_cast<Cycle>(share);
    commands_.promise(answer);
    done = std::max(done, answer);
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
