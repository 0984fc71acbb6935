#include "models/dram/dram_schedule.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

#include "models/common/containers/pooled_records.h"
#include "models/dram/detail/inline_scheduling.h"

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
      pseudo_bits_(static_cast<unsigned>(std::countr_zero(parameters.pseudo_channels))),
      burst_(parameters.burst.n),
      data_(parameters.tCL.n + parameters.burst.n),
      burst_time_(time(burst_)),
      refresh_(parameters.tREFI.n, place, parameters.refresh_stagger == DramRefreshStagger::channels),
      rows_found_{&statistics_.row_empty, &statistics_.row_hits, &statistics_.row_conflicts, &statistics_.row_empty},
      prepared_{0, 0, parameters.tRP.n + parameters.tRCDRD.n, parameters.activate_cycles.n - 1 + parameters.tRCDRD.n},
      commands_(parameters_, refresh_, statistics_),
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
    const ReadForecast::Column column = forecast_.read(commands_, burst, arrival);
    commands_.read(burst, arrival, column.at);
    statistics_.bus_busy += burst_time_;
    ++*rows_found_[static_cast<std::size_t>(column.command)];
    // Bursts of different pseudo channels overlap; bursts of one pseudo channel follow each other.
    const Cycle unloaded = column.prepared + data_ + ((number - first) >> pseudo_bits_) * burst_;
    longest = std::max(longest, unloaded);
    const Cycle data = column.at + data_;
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

void DramSchedule::read_later(std::uint64_t address, unsigned length, Tick at, std::uint32_t number) {
  const std::uint64_t first = address >> burst_shift_;
  const std::uint64_t last = (address + length - 1) >> burst_shift_;
  const Cycle arrival = clock_.ceil(at).n;
  const std::uint32_t requester = take_record(pending_, free_pending_);
  Pending& pending = pending_[requester];
  pending = {.number = number, .at = at, .done = arrival};
  // Bursts of different pseudo channels overlap; bursts of one pseudo channel follow each other.
  pending.unloaded = ((last - first) >> pseudo_bits_) * burst_;
  for (std::uint64_t burst_number = first; burst_number <= last; ++burst_number) {
    if (commands_.is_pending(burst_number)) [[unlikely]] {
      ++statistics_.forwarded;
      pending.done = arrival + burst_;
      continue;
    }
    ++pending.remaining;
    commands_.read_later(locate(burst_number), arrival, requester);
    statistics_.bus_busy += burst_time_;
  }
  if (pending.remaining != 0) return;
  pending.unloaded = burst_;
  complete(pending, forwarded_);
  free_pending_.push_back(requester);
}

void DramSchedule::complete(const Pending& pending, std::vector<Completion>& completed) {
  const Tick done = time(pending.done);
  const Tick unloaded = time(pending.unloaded + pending.prepared);
  const Tick waiting = done > pending.at + unloaded ? done - pending.at - unloaded : Tick{};
  if (!pending.write) statistics_.queueing += waiting;
  completed.push_back({pending.number, {done, waiting}});
}

void DramSchedule::decide(Tick until, std::vector<Completion>& completed) {
  commands_.advance(clock_.floor(until).n);
  completed.insert(completed.end(), forwarded_.begin(), forwarded_.end());
  forwarded_.clear();
  for (const CommandScheduler::Decision& decision : commands_.decisions()) {
    Pending& pending = pending_[decision.requester];
    if (pending.write) {
      pending.done = std::max(pending.done, decision.at);
    } else {
      const auto first = static_cast<std::size_t>(decision.first);
      ++*rows_found_[first];
      pending.done = std::max(pending.done, decision.at + data_);
      pending.prepared = std::max(pending.prepared, prepared_[first] + data_);
    }
    if (--pending.remaining != 0) continue;
    complete(pending, completed);
    free_pending_.push_back(decision.requester);
  }
  commands_.clear_decisions();
}

Tick DramSchedule::next_decision() {
  if (!forwarded_.empty()) return Tick{};
  const Cycle next = commands_.next_decision();
  return next != CommandScheduler::kNever ? time(next) : kNever;
}

std::optional<Tick> DramSchedule::write_later(std::uint64_t address, unsigned length, Tick at, std::uint32_t number) {
  const std::uint64_t first = address >> burst_shift_;
  const std::uint64_t last = (address + length - 1) >> burst_shift_;
  const Cycle arrival = clock_.ceil(at).n;
  const auto bursts = static_cast<unsigned>(last - first + 1);
  CommandScheduler::Requester requester = CommandScheduler::kNoRequester;
  if (!commands_.has_room_for_writes(bursts)) {
    requester = take_record(pending_, free_pending_);
    pending_[requester] = {.number = number, .remaining = bursts, .write = true, .at = at, .done = arrival};
  }
  for (std::uint64_t burst_number = first; burst_number <= last; ++burst_number) {
    commands_.write(locate(burst_number), arrival, requester);
  }
  if (requester != CommandScheduler::kNoRequester) return std::nullopt;
  return arrival < commands_.decided_until() ? time(commands_.decided_until()) : at;
}

Tick DramSchedule::write(std::uint64_t address, unsigned length, Tick at) {
  const std::uint64_t last = (address + length - 1) >> burst_shift_;
  Tick accepted = at;
  for (std::uint64_t number = address >> burst_shift_; number <= last; ++number) {
    const Cycle cycle = clock_.ceil(accepted).n;
    const CommandScheduler::Burst burst = locate(number);
    const Cycle room = forecast_.write(commands_, burst, cycle);
    if (!commands_.has_room_for_writes(1)) accepted = later(accepted, time(room));
    commands_.write(burst, cycle);
  }
  return accepted;
}

void DramSchedule::retire(Tick horizon) {
  const Cycle cycle = clock_.floor(horizon).n;
  commands_.advance(cycle);
  forecast_.retire(cycle);
}

void DramSchedule::reset() {
  pending_.clear();
  free_pending_.clear();
  forwarded_.clear();
  commands_.reset();
  forecast_.reset();
}

}  // namespace lacuna
