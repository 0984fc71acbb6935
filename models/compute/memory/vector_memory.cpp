#include "models/compute/memory/vector_memory.h"

#include <algorithm>
#include <utility>

#include "models/common/containers/pooled_records.h"

namespace lacuna {
namespace {

constexpr std::uint64_t kNoPage = ~std::uint64_t{0};

LineAnswer stage_answer(Tick at) { return {.made = at, .arrived = at, .done = at, .level = MemoryLevel::l1}; }

}  // namespace

VectorMemory::VectorMemory(const ComputeUnitParameters& parameters, Clock clock, GpuVm& vm, MemoryTokens& tokens,
                           LineMemory& memory, std::uint16_t requester, VectorWorkspace* workspace)
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

// The address unit takes lanes_per_simd addresses and gives one transaction a cycle.
Tick VectorMemory::take_address_unit(std::size_t lines, Cycles cycle, Tick& wanted) {
  const std::uint64_t occupancy = std::max<std::uint64_t>(lines, isa::kLanes / parameters_.lanes_per_simd);
  wanted = clock_.ticks(cycle + parameters_.vmem_address_latency);
  return unit_.reserve(wanted, clock_.period() * occupancy);
}

MemoryTokens::Token VectorMemory::send(WavefrontSlot& slot, const isa::MemoryAccess& access, std::span<const LineRequest> lines,
                                       Counters counters, Cycles cycle, const Races* races) {
  Tick wanted;
  const Tick start = take_address_unit(lines.size(), cycle, wanted);
  first_left_ = start;
  undecided_ = races != nullptr;
  const bool write = access.operation != isa::MemoryAccess::Operation::load;
  const MemoryTokens::Token token = tokens_.begin(slot, counters, start, start - wanted, parameters_.vmem_return_latency,
                                                  write ? nullptr : &slot.group->work->activity);
  requests_ += lines.size();
  const LineAccess request{.bytes = work_.coalescer.line_bytes(),
                           .kind = RequestKind::vector,
                           .write = write,
                           .atomic = access.operation == isa::MemoryAccess::Operation::atomic,
                           .bypass_l1 = access.glc || access.slc,
                           .requester = requester_};
  if (reorder_.exists()) {
    queue_lines(lines, request, start, token, races);
  } else {
    send_lines(lines, request, start, token, races);
  }
  return token;
}

// Requests the translations of all lines first, then the translated lines from the cache; TLB and cache are independent.
void VectorMemory::send_lines(std::span<const LineRequest> lines, const LineAccess& request, Tick start,
                              MemoryTokens::Token token, const Races* races) {
  const Tick period = clock_.period();
  std::uint64_t page = kNoPage;  // of the smallest size
  std::uint64_t to_bus = 0;      // from its virtual addresses
  bool mapped = false;
  std::size_t count = 0;
  Tick at = start;
  for (const LineRequest& line : lines) {
    const Tick made = std::exchange(at, at + period);
    if (line.address / GpuVm::kPage != page) {
      page = line.address / GpuVm::kPage;
      port_.translate(line.address, made);
      const std::uint64_t bus = physical_.find(line.address);
      mapped = bus != PhysicalAddresses::kUnmapped;
      to_bus = bus - line.address;
    }
    // The accessed bytes are mapped (the executor checked), so the lines' pages are as well.
    if (!mapped) continue;
    InstructionLine& sent = work_.lines[count];
    sent.address = line.address + to_bus;
    sent.byte_mask = line.byte_mask;
    sent.made = made;
    if (races == nullptr && port_.arrives(made, sent.arrives)) [[likely]] {
      ++count;
      continue;
    }
    LineAccess alone = request;
    alone.address = sent.address;
    alone.byte_mask = sent.byte_mask;
    alone.made = made;
    send_alone(alone, token, begin_race(token, line, races));
  }
  tokens_.expect(token, static_cast<unsigned>(count));
  const std::size_t known = port_.request(request, {work_.lines.data(), count}, token, work_.answers.data());
  tokens_.add(token, {work_.answers.data(), known});
}

void VectorMemory::send_alone(const LineAccess& request, MemoryTokens::Token token, Race race) {
  LineAnswer answer;
  tokens_.expect(token, 1);
  if (race != kNoRace) {
    if (port_.request(request, race | kRace, answer)) answer_race(race, answer);
  } else {
    if (port_.request(request, token, answer)) tokens_.add(token, answer, answer.done);
  }
}

void VectorMemory::queue_lines(std::span<const LineRequest> lines, LineAccess request, Tick start, MemoryTokens::Token token,
                               const Races* races) {
  const Tick period = clock_.period();
  Tick at = start;
  unsigned expected = 0;
  for (const LineRequest& line : lines) {
    const Tick wanted = std::exchange(at, at + period);
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

void VectorMemory::answered(std::uint32_t tag, const LineAnswer& answer) {
  if ((tag & kRace) == 0 && !reorder_.exists()) [[likely]] {
    tokens_.add(tag, answer, answer.done);
  } else {
    complete_tracked(tag, answer);
  }
}

void VectorMemory::complete_tracked(std::uint32_t tag, const LineAnswer& answer) {
  if ((tag & kRace) != 0) {
    answer_race(tag & ~kRace, answer);
  } else {
    take_answer(tag, answer);
  }
  send_in_order();
}

void VectorMemory::reset() {
  port_.reset();
  unit_.reset();
  reorder_ = ReorderBuffer(parameters_.reorder_entries);
  waiting_.clear();
  first_waiting_ = 0;
  last_made_ = Tick{};
  page_ = kNoPage;
  racing_lines_.clear();
  free_racing_lines_.clear();
}

// -- races lines

VectorMemory::Race VectorMemory::begin_race(MemoryTokens::Token token, const LineRequest& line, const Races* races) {
  if (races == nullptr || races->lines.contains(line.address, 1)) return kNoRace;
  const Race race = take_record(racing_lines_, free_racing_lines_);
  racing_lines_[race] = RacingLine{};
  racing_lines_[race].token = token;
  races->races.push_back(race);
  return race;
}

// Memory's answer.
void VectorMemory::answer_race(Race race, const LineAnswer& answer) {
  racing_lines_[race].memory_done = true;
  if (undecided_) {
    racing_lines_[race].early = answer;
    racing_lines_[race].early.below = nullptr;
    return;
  }
  if (!std::exchange(racing_lines_[race].over, true)) finish_race(race, answer);
  if (racing_lines_[race].stage_done) free_racing_lines_.push_back(race);
}

void VectorMemory::stage_completed(Race race, Tick at) {
  racing_lines_[race].stage_done = true;
  racing_lines_[race].stage_done_at = at;
  if (undecided_) return;
  // With a reorder buffer its answer waits for its entry.
  const bool can_finish = !reorder_.exists() || racing_lines_[race].entered;
  if (can_finish && !std::exchange(racing_lines_[race].over, true)) {
    finish_race(race, stage_answer(at));
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
      answer_race(race, line.early);
    }
  }
  send_in_order();
}

void VectorMemory::finish_race(Race race, const LineAnswer& answer) {
  const RacingLine& line = racing_lines_[race];
  if (reorder_.exists()) {
    take_answer(line.entry, answer);
  } else {
    tokens_.add(line.token, answer, answer.done);
  }
}

// -- with a reorder buffer

void VectorMemory::send_in_order() {
  if (sending_) return;  // a synchronous response must not let later requests overtake
  sending_ = true;
  const Tick period = clock_.period();
  LineAnswer answer;
  for (; first_waiting_ < waiting_.size() && reorder_.can_enter(); ++first_waiting_) {
    Waiting line = waiting_[first_waiting_];
    const Tick at = reorder_.enters(later(line.wanted, last_made_ + period));
    last_made_ = at;
    line.access.made = at;
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
        take_answer(entry, stage_answer(later(at, races.stage_done_at)));
      }
      if (port_.request(line.access, line.race | kRace, answer)) answer_race(line.race, answer);
      continue;
    }
    if (port_.request(line.access, entry, answer)) take_answer(entry, answer);
  }
  // What has been sent is dropped when it is most of what is kept.
  if (2 * first_waiting_ >= waiting_.size()) {
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(first_waiting_));
    first_waiting_ = 0;
  }
  sending_ = false;
}

void VectorMemory::take_answer(ReorderBuffer::Entry entry, const LineAnswer& answer) {
  Entered& entered = entered_[entry];
  tokens_.account(entered.token, answer);
  entered.answer = answer;
  if (answer.below != nullptr) entered.below = *answer.below;
  reorder_.answer(entry, answer.done);
  Tick left;
  while (reorder_.depart(clock_.period(), entry, left)) {
    Entered& oldest = entered_[entry];
    if (oldest.answer.below != nullptr) oldest.answer.below = &oldest.below;
    tokens_.arrive(oldest.token, oldest.answer, left);
  }
}

}  // namespace lacuna
