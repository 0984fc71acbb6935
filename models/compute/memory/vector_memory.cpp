#include "models/compute/memory/vector_memory.h"

#include <algorithm>
#include <utility>

#include "models/common/containers/pooled_records.h"
#include "models/compute/memory/lane_groups.h"

namespace lacuna {
namespace {

constexpr std::uint64_t kNoPage = ~std::uint64_t{0};

MemoryResponse stage_response(Tick at) { return {.made = at, .arrived = at, .done = at, .level = MemoryLevel::l1}; }

}  // namespace

VectorMemory::VectorMemory(const ComputeUnitParameters& parameters, Clock clock, GpuVm& vm, MemoryTokens& tokens,
                           MemoryTarget& memory, std::uint16_t requester, VectorWorkspace* workspace)
    : parameters_(parameters),
      clock_(clock),
      tokens_(tokens),
      port_(*this, memory),
      physical_(vm),
      requester_(requester),
      own_workspace_(workspace == nullptr ? std::make_unique<VectorWorkspace>(parameters.transaction_bytes) : nullptr),
      work_(workspace == nullptr ? *own_workspace_ : *workspace),
      reorder_(parameters.reorder_entries),
      entered_(parameters.reorder_entries) {}

MemoryTokens::Token VectorMemory::no_access(WavefrontSlot& slot, Counters counters, Cycles cycle) {
  return tokens_.begin(slot, counters, clock_.ticks(cycle + Cycles{1}), Tick{}, Cycles{0}, nullptr);
}

// In each cycle, the address unit accepts lanes_per_simd addresses and emits one transaction.
Tick VectorMemory::take_address_unit(const WavefrontSlot& slot, std::size_t lines, Cycles cycle, Tick& wanted) {
  const std::uint64_t occupancy = std::max<std::uint64_t>(lines, isa::kLanes / parameters_.lanes_per_simd);
  wanted = clock_.ticks(cycle + parameters_.vmem_address_latency);
  return occupy(slot, wanted, occupancy);
}

Tick VectorMemory::occupy(const WavefrontSlot& slot, Tick wanted, std::uint64_t cycles) {
  const Tick start = unit_.reserve(wanted, clock_.period() * cycles);
  if (start != wanted) slot.group->work->activity.vmem_waits.address_unit += clock_.floor(start - wanted).n;
  return start;
}

MemoryTokens::Token VectorMemory::send(WavefrontSlot& slot, const isa::MemoryAccess& access,
                                       std::span<const CoalescedLine> lines, Counters counters, Cycles cycle,
                                       const Races* races) {
  Tick wanted;
  const Tick start = take_address_unit(slot, lines.size(), cycle, wanted);
  return send_from(slot, access, lines, counters, start, wanted, clock_.period(), races);
}

MemoryTokens::Token VectorMemory::send_groups(WavefrontSlot& slot, const isa::MemoryAccess& access,
                                              std::span<const CoalescedLine> lines, Counters counters, Cycles cycle) {
  const std::uint64_t occupancy =
      std::max(lacuna::group_cycles(access, work_.addresses.global), isa::kLanes / parameters_.lanes_per_simd);
  group_cycles_ += occupancy;
  const Tick wanted = clock_.ticks(cycle + parameters_.vmem_address_latency);
  const Tick busy = clock_.period() * occupancy;
  const Tick start = occupy(slot, wanted, occupancy);
  return send_from(slot, access, lines, counters, start, wanted, Tick{busy.ps / lines.size()}, nullptr);
}

MemoryTokens::Token VectorMemory::send_from(WavefrontSlot& slot, const isa::MemoryAccess& access,
                                            std::span<const CoalescedLine> lines, Counters counters, Tick start, Tick wanted,
                                            Tick apart, const Races* races) {
  start = take_line_port(lines.size(), start);
  first_left_ = start;
  undecided_ = races != nullptr;
  const bool write = access.operation != isa::MemoryAccess::Operation::load;
  const MemoryTokens::Token token = tokens_.begin(slot, counters, start, start - wanted, parameters_.vmem_return_latency,
                                                  write ? nullptr : &slot.group->work->activity);
  requests_ += lines.size();
  const MemoryRequest request{.bytes = static_cast<std::uint16_t>(work_.coalescer.line_bytes()),
                              .requester = requester_,
                              .kind = RequestKind::vector,
                              .write = write,
                              .atomic = access.operation == isa::MemoryAccess::Operation::atomic,
                              .bypass_l1 = access.glc || access.slc};
  if (reorder_.exists()) {
    queue_lines(lines, request, start, apart, token, races);
  } else {
    send_lines(lines, request, start, apart, token, races);
  }
  return token;
}

// Requests the translations of all lines first, then the translated lines from the cache; TLB and cache are independent.
void VectorMemory::send_lines(std::span<const CoalescedLine> lines, const MemoryRequest& request, Tick start, Tick apart,
                              MemoryTokens::Token token, const Races* races) {
  std::uint64_t page = kNoPage;  // page translated last, of the smallest page size
  std::uint64_t to_bus = 0;      // bus address minus virtual address in this page
  bool mapped = false;
  std::size_t count = 0;
  Tick at = start;
  for (const CoalescedLine& line : lines) {
    const Tick made = std::exchange(at, at + apart);
    if (line.address / GpuVm::kPage != page) {
      page = line.address / GpuVm::kPage;
      port_.translate(line.address, made);
      const std::uint64_t bus = physical_.find(line.address);
      mapped = bus != PhysicalAddresses::kUnmapped;
      to_bus = bus - line.address;
    }
    // The executor has checked that the accessed bytes are mapped, so the pages of their lines are as well.
    if (!mapped) continue;
    MemoryRequest& sent = work_.requests[count];
    sent = request;
    sent.address = line.address + to_bus;
    sent.byte_mask = line.byte_mask;
    sent.made = made;
    if (races == nullptr && port_.arrives(made, work_.arrivals[count])) [[likely]] {
      ++count;
      continue;
    }
    send_alone(sent, token, begin_race(token, line, races));
  }
  tokens_.expect(token, static_cast<unsigned>(count));
  const std::size_t known =
      port_.request_all({work_.requests.data(), count}, work_.arrivals.data(), token, work_.responses.data());
  tokens_.add(token, {work_.responses.data(), known});
}

void VectorMemory::send_alone(const MemoryRequest& request, MemoryTokens::Token token, Race race) {
  MemoryResponse response;
  tokens_.expect(token, 1);
  if (race != kNoRace) {
    if (port_.request(request, race | kRace, response)) memory_completed(race, response);
  } else {
    if (port_.request(request, token, response)) tokens_.add(token, response, response.done);
  }
}

void VectorMemory::queue_lines(std::span<const CoalescedLine> lines, MemoryRequest request, Tick start, Tick apart,
                               MemoryTokens::Token token, const Races* races) {
  Tick at = start;
  unsigned expected = 0;
  for (const CoalescedLine& line : lines) {
    const Tick wanted = std::exchange(at, at + apart);
    request.address = physical_.find(line.address);
    if (request.address == PhysicalAddresses::kUnmapped) continue;
    request.byte_mask = line.byte_mask;
    waiting_.push_back({request, line.address, wanted, token, begin_race(token, line, races)});
    ++expected;
  }
  tokens_.expect(token, expected);
  page_ = kNoPage;
  send_in_order();
}

void VectorMemory::on_response(std::uint32_t tag, const MemoryResponse& response) {
  if ((tag & kRace) == 0 && !reorder_.exists()) [[likely]] {
    tokens_.add(tag, response, response.done);
  } else {
    complete_tracked(tag, response);
  }
}

void VectorMemory::complete_tracked(std::uint32_t tag, const MemoryResponse& response) {
  if ((tag & kRace) != 0) {
    memory_completed(tag & ~kRace, response);
  } else {
    complete_entry(tag, response);
  }
  send_in_order();
}

void VectorMemory::reset() {
  port_.reset();
  unit_.reset();
  line_port_.reset();
  reorder_ = ReorderBuffer(parameters_.reorder_entries);
  waiting_.clear();
  first_waiting_ = 0;
  last_made_ = Tick{};
  page_ = kNoPage;
  racing_lines_.clear();
  free_racing_lines_.clear();
}

// -- racing lines

VectorMemory::Race VectorMemory::begin_race(MemoryTokens::Token token, const CoalescedLine& line, const Races* races) {
  if (races == nullptr || races->lines.contains(line.address, 1)) return kNoRace;
  const Race race = take_record(racing_lines_, free_racing_lines_);
  racing_lines_[race] = RacingLine{};
  racing_lines_[race].token = token;
  races->races.push_back(race);
  return race;
}

void VectorMemory::memory_completed(Race race, const MemoryResponse& response) {
  racing_lines_[race].memory_done = true;
  if (undecided_) {
    racing_lines_[race].early = response;
    racing_lines_[race].early.below = nullptr;
    return;
  }
  if (!std::exchange(racing_lines_[race].over, true)) finish_race(race, response);
  if (racing_lines_[race].stage_done) free_racing_lines_.push_back(race);
}

void VectorMemory::stage_completed(Race race, Tick at) {
  racing_lines_[race].stage_done = true;
  racing_lines_[race].stage_done_at = at;
  if (undecided_) return;
  // With a reorder buffer, a line can complete only after it has entered the buffer.
  const bool can_finish = !reorder_.exists() || racing_lines_[race].entered;
  if (can_finish && !std::exchange(racing_lines_[race].over, true)) {
    finish_race(race, stage_response(at));
    send_in_order();
  }
  if (racing_lines_[race].memory_done) free_racing_lines_.push_back(race);
}

void VectorMemory::resolve_races(std::span<const Race> races) {
  undecided_ = false;
  for (const Race race : races) {
    const RacingLine line = racing_lines_[race];
    if (line.stage_done && (!line.memory_done || line.stage_done_at < line.early.done)) {
      stage_completed(race, line.stage_done_at);
    } else if (line.memory_done) {
      memory_completed(race, line.early);
    }
  }
  send_in_order();
}

void VectorMemory::finish_race(Race race, const MemoryResponse& response) {
  const RacingLine& line = racing_lines_[race];
  if (reorder_.exists()) {
    complete_entry(line.entry, response);
  } else {
    tokens_.add(line.token, response, response.done);
  }
}

// -- with a reorder buffer

void VectorMemory::send_in_order() {
  if (sending_) return;  // a synchronous response must not let later requests overtake
  sending_ = true;
  const Tick period = clock_.period();
  MemoryResponse response;
  for (; first_waiting_ < waiting_.size() && reorder_.can_enter(); ++first_waiting_) {
    Waiting line = waiting_[first_waiting_];
    const Tick at = reorder_.enters(later(line.wanted, last_made_ + period));
    last_made_ = at;
    line.request.made = at;
    if (line.virtual_address / GpuVm::kPage != page_) {
      page_ = line.virtual_address / GpuVm::kPage;
      port_.translate(line.virtual_address, at);
    }
    const ReorderBuffer::Entry entry = reorder_.enter();
    entered_[entry].token = line.token;
    if (line.race != kNoRace) [[unlikely]] {
      RacingLine& races = racing_lines_[line.race];
      races.entry = entry;
      races.entered = true;
      if (races.stage_done && !undecided_) {
        races.over = true;
        complete_entry(entry, stage_response(later(at, races.stage_done_at)));
      }
      if (port_.request(line.request, line.race | kRace, response)) memory_completed(line.race, response);
      continue;
    }
    if (port_.request(line.request, entry, response)) complete_entry(entry, response);
  }
  // Drops the sent lines when they are at least half of the list.
  if (2 * first_waiting_ >= waiting_.size()) {
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(first_waiting_));
    first_waiting_ = 0;
  }
  sending_ = false;
}

void VectorMemory::complete_entry(ReorderBuffer::Entry entry, const MemoryResponse& response) {
  Entered& entered = entered_[entry];
  tokens_.account(entered.token, response);
  entered.response = response;
  if (response.below != nullptr) entered.below = *response.below;
  reorder_.answer(entry, response.done);
  Tick left;
  while (reorder_.depart(clock_.period(), entry, left)) {
    Entered& oldest = entered_[entry];
    if (oldest.response.below != nullptr) oldest.response.below = &oldest.below;
    tokens_.arrive(oldest.token, oldest.response, left);
  }
}

}  // namespace lacuna
