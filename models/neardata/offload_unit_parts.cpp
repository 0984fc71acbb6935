// The offload unit: parts of chains from the last instruction to their results, and requests to the L1 cache.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "models/common/containers/pooled_records.h"
#include "models/isa/memory/memory_lanes.h"
#include "models/neardata/offload_unit.h"
#include "models/neardata/service_queue.h"

namespace lacuna {
namespace {

std::uint64_t lanes_of(const ChainPacket& packet) { return static_cast<std::uint64_t>(std::popcount(packet.lanes)); }

}  // namespace

void OffloadUnit::leave_queue(Part& part, Tick at) {
  if (!std::exchange(part.queued, false)) return;
  statistics_.entry_time += later(at, part.entered) - part.entered;
  free_entries_.push_back(part.entry);
  --used_;
}

void OffloadUnit::free_part(std::uint16_t part, Tick at) {
  leave_queue(parts_[part], at);
  parts_[part].chain = kNone;
  free_parts_.push_back(part);
}

// Flushes a part: its lanes remain at the core, which performs their loads. A second load that has not issued yet is performed
// together with the second load of the other lanes at the core.
void OffloadUnit::flush(std::uint16_t number, Tick at) {
  const std::uint16_t open = parts_[number].chain;
  OpenChain& c = chains_[open];
  c.staying |= parts_[number].packet.lanes;
  statistics_.loaded_words += static_cast<std::uint64_t>(std::popcount(parts_[number].packet.lanes));
  const ChainPacket packet = parts_[number].packet;
  std::erase(c.parts, number);
  free_part(number, at);
  c.fills += packet.has_second() ? 2 : 1;
  request({.kind = OwnRequest::Kind::fill, .chain = open}, packet.line_a, at);
  if (packet.has_second()) request({.kind = OwnRequest::Kind::fill, .chain = open}, packet.line_b, at + clock_.period());
}

// Called when the last instruction of a chain has issued: sends the packets; the core performs the parts that have no packet.
void OffloadUnit::close(WavefrontSlot& slot, std::uint16_t open, Cycles cycle) {
  OpenChain& c = chains_[open];
  Wavefront& w = wavefront(slot);
  std::erase(w.open, open);
  release_builder(slot, w, cycle);
  c.closing = true;
  w.closing = open;
  const Tick at = clock_.ticks(cycle + Cycles{1});
  for (const std::uint16_t part : std::vector<std::uint16_t>(c.parts)) {
    if (!parts_[part].queued || !send(part, at)) perform_at_core(part, at);
  }
  end_chain(open);
}

std::variant<ServiceQueue*, NearDataCount> OffloadUnit::find_queue(std::uint64_t first, std::uint64_t second) {
  const unsigned node = network_.meeting->find(core_, *network_.cache_of(first), *network_.cache_of(second));
  if (node == EmnTable::kNone) return NearDataCount::no_node;
  ServiceQueue* const queue = network_.queues[node];
  if (queue == nullptr) return NearDataCount::cannot_compute;
  if (queue->is_at_core() && network_.lds_full) return NearDataCount::lds;
  return queue;
}

bool OffloadUnit::send(std::uint16_t number, Tick at) {
  Part& part = parts_[number];
  const ChainPacket& packet = part.packet;
  OpenChain& c = chains_[part.chain];
  const std::uint64_t second = packet.has_second()                              ? packet.line_b
                               : packet.has_store() && parameters_.store_counts ? packet.store
                                                                                : packet.line_a;
  if (!packet.has_second()) ++statistics_.table_reads;  // otherwise read at the second load
  const auto found = find_queue(packet.line_a, second);
  if (const auto* const reason = std::get_if<NearDataCount>(&found)) {
    count(c.slot, *reason);
    return false;
  }
  ServiceQueue* const queue = std::get<ServiceQueue*>(found);
  const ComputePacket bits = compute_packet(part);
  const EncodedPacket encoded(bits);
  if (parameters_.check && decode_packet(encoded.words()) != bits)
    NearDataNetwork::fail(fmt::format("core {}: a compute packet is not the same after it has been decoded", core_));
  const unsigned flits = encoded.flits(network_.flit_bytes);
  count(c.slot, NearDataCount::packets);
  ++flow_.packets;
  part.times.begin(clock_.ticks(c.begun));
  part.times.until(ChainTime::build, at);
  if (queue->is_at_cache()) count(c.slot, NearDataCount::packets_llc);
  count(c.slot, NearDataCount::mask_flits, flits - 1);
  if (!std::exchange(c.offloaded, true)) count(c.slot, NearDataCount::offloaded);
  part.missing = packet.has_second() ? 2 : 1;  // number of loads to expect if the service queue rejects the packet
  messages_.push_back({.at = at,
                       .receiver = queue,
                       .network = VirtualNetwork::request,
                       .flits = static_cast<std::uint16_t>(flits),
                       .tag = packet_tag(core_, number)});
  next_message_ = earlier(next_message_, at);
  announce(at);
  return true;
}

ComputePacket OffloadUnit::compute_packet(const Part& part) const {
  const OpenChain& c = chains_[part.chain];
  const ChainPacket& packet = part.packet;
  const auto first = static_cast<unsigned>(std::countr_zero(packet.lanes));
  ComputePacket bits;
  bits.core = core_;
  bits.entry = part.entry;
  bits.pattern = c.chain->pattern;
  bits.element_bytes = c.chain->element_bytes;
  bits.is_signed = c.code->is_signed;
  bits.operations = c.code->operations;
  bits.modifiers = c.code->modifiers;
  bits.immediate = c.immediate;
  bits.lanes = static_cast<std::uint32_t>(packet.lanes >> first);
  const auto operand = [&](std::uint64_t line, const Places& places) {
    ComputePacket::Operand field;
    field.address = line + places[first];
    bool strided = true;
    bool uniform = true;
    isa::for_lanes(packet.lanes, [&](unsigned lane) {
      const unsigned distance = unsigned{places[lane]} - places[first];
      strided &= distance == (lane - first) * bits.element_bytes;
      uniform &= distance == 0;
    });
    field.form = strided ? OperandForm::strided : uniform ? OperandForm::uniform : OperandForm::scattered;
    if (field.form == OperandForm::scattered)
      isa::for_lanes(packet.lanes, [&](unsigned lane) { field.places[lane - first] = places[lane]; });
    return field;
  };
  bits.a = operand(packet.line_a, c.places[0]);
  if (packet.has_second()) bits.b = operand(packet.line_b, c.places[1]);
  if (packet.has_store()) bits.store = operand(packet.store, c.places[2]);
  if (c.chain->instructions.front().role == ChainRole::load_b) std::swap(bits.a, bits.b);
  return bits;
}

void OffloadUnit::messages(Tick end, std::vector<Message>& out) {
  if (next_message_ >= end) return;
  const auto later_ones =
      std::stable_partition(messages_.begin(), messages_.end(), [end](const Message& message) { return message.at < end; });
  out.insert(out.end(), messages_.begin(), later_ones);
  messages_.erase(messages_.begin(), later_ones);
  next_message_ = kNever;
  for (const Message& message : messages_) next_message_ = earlier(next_message_, message.at);
}

void OffloadUnit::receive(std::uint32_t number, const Passage& passage) {
  Part& part = parts_[number];
  const Chain& chain = *part.packet.chain;
  const bool stores = part.packet.has_store();
  ++flow_.results;
  if (part.lanes_changed != 0) count(chains_[part.chain].slot, NearDataCount::lanes_changed, part.lanes_changed);
  const Cycles in_registers = stores || chain.compares ? Cycles{0} : unit_.vmem_return_latency;
  const Cycles done = clock_.ceil(passage.at) + in_registers;
  const std::uint16_t open = part.chain;
  last_ = later(last_, passage.at);
  part.times.packet(passage);
  part.times.until(ChainTime::core, clock_.ticks(done));
  count_times(part);
  leave_queue(part, passage.at);
  if (in_registers != Cycles{}) statistics_.loaded_words += lanes_of(part.packet);
  if (chains_[open].code->combines) statistics_.core_lanes += lanes_of(part.packet);
  result_known(static_cast<std::uint16_t>(number), done, done);
  if (stores) store_complete(chains_[open], done);
  free_part(static_cast<std::uint16_t>(number), passage.at);
  end_chain(open);
}

void OffloadUnit::count_times(const Part& part) {
  const auto cycles = part.times.cycles(clock_);
  for (std::size_t i = 0; i < cycles.size(); ++i)
    count(chains_[part.chain].slot, static_cast<NearDataCount>(static_cast<std::size_t>(NearDataCount::latency_build) + i),
          cycles[i]);
}

void OffloadUnit::complete(std::uint32_t tag, Tick at, const LatencyBreakdown& below) {
  const auto number = static_cast<std::uint16_t>(tag);
  Part& part = parts_[number];
  last_ = later(last_, at);
  ++flow_.bounced_lines;
  if (part.missing == (part.packet.has_second() ? 2 : 1)) count(chains_[part.chain].slot, NearDataCount::bounced);
  RemoteAccess access;
  access.set(below);
  core_loaded(number, at, access);
}

void OffloadUnit::perform_at_core(std::uint16_t number, Tick at) {
  Part& part = parts_[number];
  const std::uint64_t second = part.packet.line_b;
  leave_queue(part, at);
  part.missing = part.packet.has_second() ? 2 : 1;
  part.loaded = at;
  request({.kind = OwnRequest::Kind::core_load, .part = number}, part.packet.line_a, at);
  if (second != ChainPacket::kNoLine)
    request({.kind = OwnRequest::Kind::core_load, .part = number}, second, at + clock_.period());
}

// Called when an operand of a part has arrived at the core. The core computes when all operands have arrived, and then stores.
void OffloadUnit::core_loaded(std::uint16_t number, Tick at, const RemoteAccess& access) {
  Part& part = parts_[number];
  if (at >= part.loaded) {
    part.loaded = at;
    part.latest = access;
  }
  if (--part.missing > 0) return;
  const std::uint16_t open = part.chain;
  const unsigned operations = part.packet.chain->operations;
  const Cycles in_registers = clock_.ceil(part.loaded) + unit_.vmem_return_latency;
  const Cycles done = in_registers + Cycles{operations * std::uint64_t{isa::kLanes / unit_.lanes_per_simd}};
  const std::uint64_t lanes = lanes_of(part.packet);
  statistics_.loaded_words += lanes * (part.packet.has_second() ? 2 : 1);
  statistics_.stored_words += part.packet.has_store() || !part.stored.empty() ? lanes : 0;
  statistics_.core_lanes += lanes * (operations + (chains_[open].code->combines ? 1 : 0));
  chains_[open].at_core = true;
  if (part.queued) {  // a service queue has rejected the part's packet
    part.times.access(part.loaded, part.latest);
    part.times.until(ChainTime::core, clock_.ticks(done));
    count_times(part);
  }
  leave_queue(part, part.loaded);
  result_known(number, in_registers, done);
  if (part.stored.empty() && part.packet.has_store())
    part.stored.push_back({.bus = part.packet.store, .bytes = part.packet.stored});
  if (part.stored.empty()) {
    free_part(number, part.loaded);
  } else {
    const std::vector<StoredLine> stored = std::move(part.stored);
    part.missing = static_cast<std::uint8_t>(stored.size());
    Tick at_cache = clock_.ticks(done + unit_.vmem_address_latency);
    for (const StoredLine& line : stored) {
      request({.kind = OwnRequest::Kind::store, .chain = open, .part = number}, line.bus, at_cache, line.bytes);
      at_cache += clock_.period();
    }
  }
  end_chain(open);
}

void OffloadUnit::result_known(std::uint16_t number, Cycles in_registers, Cycles done) {
  OpenChain& c = chains_[parts_[number].chain];
  c.done = later(c.done, done);
  c.in_registers = later(c.in_registers, in_registers);
  std::erase(c.parts, number);
}

void OffloadUnit::store_complete(OpenChain& chain, Cycles done) {
  chain.stored = later(chain.stored, done);
  tokens_.include(chain.store, chain.stored, {});
  --chain.stores;
  tokens_.release(chain.store);
}

// Lets the wavefront continue when the results of all parts are known; frees the chain when all stores are complete as well.
void OffloadUnit::end_chain(std::uint16_t open) {
  OpenChain& c = chains_[open];
  if (!c.closing || !c.parts.empty()) return;
  if (c.slot != nullptr && c.chain != nullptr) {
    WavefrontSlot& slot = *c.slot;
    if (c.offloaded) count(&slot, NearDataCount::latency, later(c.done, c.begun).n - c.begun.n);
    Wavefront& w = wavefront(slot);
    w.closing = kNone;
    w.not_before = c.in_registers;
    w.operations = (c.at_core ? c.chain->operations : 0) + (c.code->combines && (c.at_core || c.offloaded) ? 1 : 0);
    if (slot.held_by(StallReason::registers)) resume(slot, NearDataCause::chain, c.in_registers);
  }
  c.chain = nullptr;
  c.slot = nullptr;
  if (c.stores == 0) free_chain(open);
}

void OffloadUnit::free_chain(std::uint16_t open) {
  chains_[open] = {};
  free_chains_.push_back(open);
}

// -- requests to the L1 cache

void OffloadUnit::request(const OwnRequest& own, std::uint64_t line, Tick at, const ByteMask& stored) {
  const std::uint32_t tag = take_record(requests_, free_requests_);
  requests_[tag] = own;
  const bool write = own.kind == OwnRequest::Kind::store;
  const OpenChain& c = chains_[own.chain != kNone ? own.chain : parts_[own.part].chain];
  requests_[tag].counted = !write && c.slot != nullptr;
  if (requests_[tag].counted) {
    requests_[tag].token = tokens_.begin(*c.slot, own_counters(), at, Tick{}, Cycles{0}, &c.slot->group->work->activity);
    tokens_.expect(requests_[tag].token, 1);
    tokens_.issued(requests_[tag].token);
  }
  const MemoryRequest request{.address = line,
                              .byte_mask = write ? stored : ByteMask::all(),
                              .made = at,
                              .bytes = static_cast<std::uint16_t>(line_mask_ + 1),
                              .requester = static_cast<std::uint16_t>(core_),
                              .kind = RequestKind::vector,
                              .write = write};
  MemoryResponse response;
  if (l1v_->request(request, at, *this, tag, response)) on_response(tag, response);
}

void OffloadUnit::on_response(std::uint32_t tag, const MemoryResponse& response) {
  const OwnRequest own = requests_[tag];
  free_requests_.push_back(tag);
  if (own.counted) tokens_.add(own.token, response, response.done);
  switch (own.kind) {
    case OwnRequest::Kind::core_load:
      core_loaded(own.part, response.done, {});
      break;
    case OwnRequest::Kind::store:
      store_complete(chains_[own.chain], clock_.ceil(response.done));
      if (--parts_[own.part].missing == 0) free_part(own.part, response.done);
      end_chain(own.chain);
      break;
    case OwnRequest::Kind::fill: {
      OpenChain& c = chains_[own.chain];
      c.filled = later(c.filled, clock_.ceil(response.done) + unit_.vmem_return_latency);
      if (--c.fills > 0) break;
      if (c.slot == nullptr) {
        free_chain(own.chain);
        break;
      }
      Wavefront& w = wavefront(*c.slot);
      if (w.filling == own.chain) {
        w.filling = kNone;
        resume(*c.slot, NearDataCause::chain, c.filled);
      }
      break;
    }
  }
}

}  // namespace lacuna
