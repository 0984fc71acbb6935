#include "models/neardata/service_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "models/common/time/retirement.h"
#include "models/common/time/tlm_time.h"
#include "models/compute/memory/lds_banks.h"
#include "models/neardata/chain.h"
#include "models/neardata/offload_unit.h"
#include "models/neardata/recent_use.h"

namespace lacuna {
namespace {

/// Number of distinct lines of a packet's operands.
unsigned operands(const ChainPacket& packet) { return packet.has_second() && packet.line_b != packet.line_a ? 2 : 1; }

/// Number of loads that are forwarded for a rejected packet.
std::uint64_t loads_of(const ChainPacket& packet) { return packet.has_second() ? 2 : 1; }

/// Moves the items whose time is before `end` from `from` to `out`.
template <typename Item>
void take_until(std::vector<Item>& from, Tick end, std::vector<Item>& out) {
  const auto later_ones = std::stable_partition(from.begin(), from.end(), [end](const Item& item) { return item.at < end; });
  out.insert(out.end(), from.begin(), later_ones);
  from.erase(from.begin(), later_ones);
}

}  // namespace

void ServiceQueueStatistics::describe(StatisticsGroup& group) const {
  group.add("packets", packets, "packets of chains accepted", "packets");
  group.add("bounced", bounced, "packets not accepted, because no entry was free: their data went to the core", "packets");
  group.add("operations", operations, "operations of the ALU", "operations");
  group.add("lanes", lanes, "lanes of these operations", "lanes");
  group.add("fetched", fetched, "lines fetched from the last-level cache at its node", "lines");
  group.add("kept", kept, "lines that came over the network and were kept until they were used", "lines");
  group.add("stores", stores, "stores sent", "stores");
  group.add("most_entries", most_entries, "highest number of entries in use", "entries");
  group.add("most_input", most_input,
            "maximum number of packets in the input: not decoded, or not accepted and with loads that have not left",
            "packets");
  group.add("contended", contended, "operations that took longer because the core used its ALUs", "operations");
  group.add("contention", contention, "time that these operations took longer");
  group.add("lds_lines", lds_lines, "lines written to and read from the core's LDS", "lines");
  group.add("lds_contended", lds_contended, "of these, lines that took longer because the core's own instructions used its LDS",
            "lines");
  group.add("lds_contention", lds_contention, "time that these lines took longer");
  group.add("evicted", evicted, "lines that were no longer in the cache when they were to be fetched", "lines");
  group.add("waiting_for_buffer", waiting_for_buffer, "time from an entry's operands to its fetch, summed over entries");
  group.add("waiting_for_alu", waiting_for_alu, "time that entries waited for the ALU");
  group.add("waiting_for_lds", waiting_for_lds,
            "time that lines waited for the port of the core's LDS, while other lines of the queue occupied it");
  group.add("latency", latency, "time from the arrival of a packet to its result, summed over the packets taken");
}

ServiceQueue::ServiceQueue(NearDataNetwork& network, Place place, unsigned number)
    : network_(network),
      parameters_(network.parameters),
      place_(place),
      number_(number),
      entries_(parameters_.sq_entries),
      buffer_(parameters_.sq_buffer) {}

void ServiceQueue::reset() {
  input_.reset();
  entries_.assign(entries_.size(), {});
  buffer_.assign(buffer_.size(), {});
  waiting_.clear();
  alu_free_ = {};
  lds_port_.reset();
  lines_ = 0;
  flow_ = {};
  departures_.clear();
  messages_.clear();
}

bool ServiceQueue::idle() const {
  const auto busy = [](const Entry& entry) { return entry.free_from == kBusy; };
  return departures_.empty() && messages_.empty() && std::none_of(entries_.begin(), entries_.end(), busy);
}

std::string ServiceQueue::remains() const {
  const ServiceQueueFlow& s = flow_;
  const bool stores_may_remain = parameters_.chain_end == ChainEnd::computation;
  std::string what;
  const auto expect = [&what](bool right, const std::string& text) { what += right ? "" : (what.empty() ? "" : ", ") + text; };
  const auto used = std::count_if(entries_.begin(), entries_.end(), [](const Entry& e) { return e.free_from == kBusy; });
  expect(used == 0, fmt::format("{} entries", used));
  const std::uint64_t most = std::uint64_t{network_.cores.size()} * parameters_.oq_entries;
  expect(statistics_.most_input <= most,
         fmt::format("{} packets in the input, all offload queues have {} entries", statistics_.most_input, most));
  expect(waiting_.empty(), fmt::format("{} entries that wait for the buffer", waiting_.size()));
  expect(lines_ == 0, fmt::format("{} lines in the LDS", lines_));
  expect(departures_.empty() || stores_may_remain, fmt::format("{} requests to be sent", departures_.size()));
  expect(messages_.empty(), fmt::format("{} packets to be sent", messages_.size()));
  expect(s.loads == s.loads_returned, fmt::format("{} loads, {} returned", s.loads, s.loads_returned));
  expect(s.stores == s.stores_acknowledged || stores_may_remain,
         fmt::format("{} stores, {} acknowledged", s.stores, s.stores_acknowledged));
  expect(s.results == s.taken, fmt::format("{} packets taken, {} results", s.taken, s.results));
  if (what.empty()) return what;
  const char* const place = is_at_cache() ? "cache" : is_at_core() ? "core" : "switch";
  return fmt::format("service queue of {} {}: {}", place, number_, what);
}

const ChainPacket& ServiceQueue::packet(std::uint32_t tag) const {
  return network_.cores[core_of(tag)]->packet(number_of(tag));
}

ChainTimes& ServiceQueue::times(std::uint32_t tag) const { return network_.cores[core_of(tag)]->times(number_of(tag)); }

// -- requests and messages

void ServiceQueue::departures(Tick end, std::vector<Departure>& out) { take_until(departures_, end, out); }
void ServiceQueue::messages(Tick end, std::vector<Message>& out) { take_until(messages_, end, out); }

Tick ServiceQueue::next_departure() const {
  Tick next = kNever;
  for (const Departure& departure : departures_) next = earlier(next, departure.at);
  for (const Message& message : messages_) next = earlier(next, message.at);
  return next;
}

void ServiceQueue::send(const Departure& departure) {
  departures_.push_back(departure);
  announce(departure.at);
}

void ServiceQueue::send(std::uint32_t tag, unsigned flits, Tick at) {
  ++flow_.results;
  messages_.push_back({.at = at,
                       .receiver = network_.cores[core_of(tag)],
                       .network = VirtualNetwork::reply,
                       .flits = static_cast<std::uint16_t>(flits),
                       .tag = number_of(tag)});
  announce(at);
}

void ServiceQueue::load(unsigned entry, std::uint64_t line, Tick at) {
  ++entries_[entry].missing;
  ++flow_.loads;
  send({.at = at,
        .request = {.address = line, .bytes = static_cast<std::uint16_t>(network_.line_bytes), .kind = RequestKind::vector},
        .tag = static_cast<std::uint32_t>(Kind::load) << kKindShift | entry});
}

// -- packets

void ServiceQueue::receive(std::uint32_t tag, const Passage& passage) {
  const Tick at = passage.at + network_.clock.period();  // time at which the packet is decoded
  times(tag).packet(passage);
  times(tag).until(ChainTime::queue, at);
  std::uint64_t used = 1;
  Entry* free = nullptr;
  for (Entry& entry : entries_) {
    if (entry.free_from > at) {
      ++used;
    } else if (free == nullptr) {
      free = &entry;
    }
  }
  if (free == nullptr) {
    count_input(tag, passage.at, at + network_.clock.period() * (loads_of(packet(tag)) - 1));
    bounce(tag, at);
    return;
  }
  count_input(tag, passage.at, at);
  statistics_.most_entries = std::max(statistics_.most_entries, used);
  ++statistics_.packets;
  ++flow_.taken;
  *free = {.packet = tag,
           .free_from = kBusy,
           .arrived = passage.at,
           .ready = at,
           .written = {},
           .missing = 0,
           .room = kNoRoom,
           .latest = {}};
  const auto number = static_cast<unsigned>(free - entries_.data());
  const ChainPacket& taken = packet(tag);
  if (is_at_core()) lines_ += operands(taken);
  load(number, taken.line_a, at);
  if (operands(taken) == 2) load(number, taken.line_b, at);
}

void ServiceQueue::count_input(std::uint32_t tag, Tick arrived, Tick left) {
  const std::uint64_t fill = input_.add(arrived, left, retirement_horizon(kernel_time()));
  statistics_.most_input = std::max(statistics_.most_input, fill);
  network_.cores[core_of(tag)]->count_input(number_of(tag), fill);
}

void ServiceQueue::bounce(std::uint32_t tag, Tick at) {
  ++statistics_.bounced;
  ++flow_.bounced;
  const ChainPacket& refused = packet(tag);
  for (const std::uint64_t line : {refused.line_a, refused.line_b}) {
    if (line == ChainPacket::kNoLine) continue;
    ++flow_.bounced_lines;
    send({.at = at,
          .request = {.address = line, .bytes = static_cast<std::uint16_t>(network_.line_bytes), .kind = RequestKind::vector},
          .receiver = network_.cores[core_of(tag)],
          .tag = number_of(tag)});
  }
}

void ServiceQueue::complete(std::uint32_t tag, Tick at, const LatencyBreakdown& below) {
  const auto kind = static_cast<Kind>(tag >> kKindShift);
  const std::uint32_t number = tag & ((std::uint32_t{1} << kKindShift) - 1);
  if (kind == Kind::store) {
    ++flow_.stores_acknowledged;
    if (parameters_.chain_end != ChainEnd::store) return;
    RemoteAccess access;
    access.set(below);
    times(number).access(at, access);
    send(number, 1, at);
    return;
  }
  Entry& entry = entries_[number];
  ++flow_.loads_returned;
  if (at >= entry.ready) {
    entry.ready = at;
    entry.latest.set(below);
  }
  if (is_at_core()) entry.written = later(entry.written, take_lds(1, at));
  if (--entry.missing > 0) return;
  times(entry.packet).access(entry.ready, entry.latest);
  if (!is_at_cache()) {
    compute(number, later(entry.ready, entry.written));
    return;
  }
  if (entry.room != kNoRoom) {
    buffer_[entry.room] = compute(number, entry.ready + network_.clock.ticks(parameters_.fetch_latency));
    fill_buffer();
    return;
  }
  const auto later_one = std::upper_bound(waiting_.begin(), waiting_.end(), entry.ready,
                                          [this](Tick ready, unsigned other) { return ready < entries_[other].ready; });
  waiting_.insert(later_one, number);
  fill_buffer();
}

// Assigns room in the buffer to entries whose operands have arrived, in order. An entry whose lines have been evicted keeps its
// room until they arrive again and are fetched; otherwise entries could evict each other's lines forever.
void ServiceQueue::fill_buffer() {
  for (; !waiting_.empty(); waiting_.erase(waiting_.begin())) {
    const unsigned number = waiting_.front();
    Entry& entry = entries_[number];
    const auto room = std::min_element(buffer_.begin(), buffer_.end());
    if (*room == kBusy) return;
    const Tick at = later(entry.ready, *room);
    statistics_.waiting_for_buffer += at - entry.ready;
    times(entry.packet).until(ChainTime::queue, at);
    entry.ready = at;
    const ChainPacket& ready = packet(entry.packet);
    for (const std::uint64_t line : {ready.line_a, ready.line_b}) {
      if (line == ChainPacket::kNoLine || !is_evicted(line)) continue;
      ++statistics_.evicted;
      load(number, line, at);
    }
    if (entry.missing > 0) {
      entry.room = static_cast<unsigned>(room - buffer_.begin());
      *room = kBusy;
      continue;
    }
    *room = compute(number, at + network_.clock.ticks(parameters_.fetch_latency));
  }
}

// Performs the operations of an entry. Returns the time at which the ALU accepts its first operands.
Tick ServiceQueue::compute(unsigned number, Tick at) {
  Entry& entry = entries_[number];
  const ChainPacket& ready = packet(entry.packet);
  if (parameters_.check) network_.cores[core_of(entry.packet)]->compare_operands(number_of(entry.packet));
  times(entry.packet).until(ChainTime::queue, at);
  if (is_at_core()) {
    lines_ -= operands(ready);
    at = read_operands(entry.packet, at);
  }
  const Computation computed = take_alu(ready, at);
  times(entry.packet).until(ChainTime::alu, computed.done);
  statistics_.operations += ready.chain->steps;
  statistics_.lanes += ready.chain->steps * static_cast<std::uint64_t>(std::popcount(ready.lanes));
  for (const std::uint64_t line : {ready.line_a, ready.line_b}) {
    if (line != ChainPacket::kNoLine) ++(is_here(line) ? statistics_.fetched : statistics_.kept);
  }
  statistics_.latency += computed.done - entry.arrived;
  entry.free_from = computed.done;
  finish(entry.packet, computed.done);
  return computed.start;
}

// The operands are read just in time for the ALU, which has no room for those of further entries.
Tick ServiceQueue::read_operands(std::uint32_t tag, Tick at) {
  const ChainPacket& ready = packet(tag);
  const unsigned lines = operands(ready);
  const Tick reading = lds_time(lines);
  const bool waits = ready.chain->steps > 0 && alu_free_ > at + reading;
  const Tick start = waits ? alu_free_ - reading : at;
  statistics_.waiting_for_alu += start - at;
  times(tag).until(ChainTime::alu, start);
  const Tick end = take_lds(lines, start);
  times(tag).until(ChainTime::queue, end);
  return end;
}

Tick ServiceQueue::lds_time(unsigned lines) const {
  constexpr unsigned kBytesPerCycle = kLdsBanks * sizeof(std::uint32_t);
  const unsigned cycles = (network_.line_bytes + kBytesPerCycle - 1) / kBytesPerCycle;
  return network_.clock.period() * (std::uint64_t{lines} * cycles);
}

// The core's LDS instructions have priority: the service queue gets the remaining cycles of the port. Its own transfers do not
// overlap.
Tick ServiceQueue::take_lds(unsigned lines, Tick at) {
  lds_port_.retire(retirement_horizon(kernel_time()));
  const Tick alone = lds_time(lines);
  const Tick taken = RecentUse::in_the_rest(alone, network_.cores[number_]->lds_use(at));
  const Tick start = lds_port_.reserve(at, taken);
  statistics_.lds_lines += lines;
  if (taken > alone) statistics_.lds_contended += lines;
  statistics_.lds_contention += taken - alone;
  statistics_.waiting_for_lds += start - at;
  return start + taken;
}

// The ALU accepts the operands of `width` lanes per cycle. The second operation starts when the first lanes have completed the
// first operation and the ALU has accepted the first operation's last lanes.
ServiceQueue::Computation ServiceQueue::take_alu(const ChainPacket& ready, Tick at) {
  const unsigned operations = ready.chain->steps;
  if (operations == 0) return {at, at};
  const Tick start = later(at, alu_free_);
  statistics_.waiting_for_alu += start - at;
  const auto lanes = static_cast<unsigned>(std::popcount(ready.lanes));
  const bool shared = is_at_core() && parameters_.core_alu == CoreAlu::shared;
  unsigned width = is_at_core() ? parameters_.core_alu_lanes : parameters_.llc_alu_lanes;
  if (shared) {
    const ComputeUnitParameters& unit = network_.cores[number_]->unit_parameters();
    width = unit.lanes_per_simd * unit.simds;
  }
  const Tick cycle = network_.clock.period();
  Tick taken = cycle * std::uint64_t{(lanes + width - 1) / width};  // cycles for which one operation occupies the ALU
  if (shared) {
    // The core's wavefronts have priority.
    const unsigned use = network_.cores[number_]->alu_use(start);
    if (use > 0) ++statistics_.contended;
    const Tick alone = taken;
    taken = RecentUse::in_the_rest(alone, use);
    statistics_.contention += (taken - alone) * operations;
  }
  alu_free_ = start + taken * operations;
  const Tick latency = network_.clock.ticks(parameters_.alu_latency);
  return {start, start + later(latency, taken) * (operations - 1) + (taken - cycle) + latency};
}

void ServiceQueue::finish(std::uint32_t tag, Tick at) {
  const ChainPacket& done = packet(tag);
  if (!done.has_store()) {
    send(tag, done.chain->compares ? 1 : network_.data_flits(), at);
    return;
  }
  ++statistics_.stores;
  ++flow_.stores;
  if (parameters_.chain_end == ChainEnd::computation) send(tag, 1, at);
  send({.at = at,
        .request = {.address = done.store,
                    .byte_mask = done.stored,
                    .bytes = static_cast<std::uint16_t>(network_.line_bytes),
                    .kind = RequestKind::vector,
                    .write = true},
        .tag = static_cast<std::uint32_t>(Kind::store) << kKindShift | tag});
}

}  // namespace lacuna
