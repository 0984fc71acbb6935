#include "models/dram/dram_channel.h"

#include <stdexcept>
#include <string>

#include "models/common/config/guest_mistake.h"
#include "models/common/containers/pooled_records.h"
#include "models/common/transport/memory_access.h"

namespace lacuna {
namespace {

// Cycles between two calls of DramSchedule::retire(): calendars keep the bookings since the last call.
constexpr unsigned kRetireCycles = 128;

}  // namespace

DramChannel::DramChannel(sc_core::sc_module_name module_name, const DramParameters& parameters, const AddressSlice& slice,
                         BackingStore& store, std::uint64_t store_offset, const std::optional<AddressSlice>& second_slice)
    : sc_module(module_name),
      memory("memory"),
      second("second", second_slice ? 1 : 0),
      parameters_(parameters),
      slice_(slice),
      second_slice_(second_slice.value_or(AddressSlice(0, Bytes{0}))),
      data_(nullptr),
      frontend_(parameters.clock.period() * parameters.frontend_latency.n),
      schedule_(parameters, {slice.index(), slice.count()}),
      port_(*this, slice_, 0),
      second_port_(*this, second_slice_, slice.size().n / slice.count()) {
  const std::string where = this->name();
  if (store_offset > store.size().n || slice.size().n > store.size().n - store_offset) {
    throw std::invalid_argument(where + ": " + std::to_string(slice.size().n) + " bytes at " + std::to_string(store_offset) +
                                " are not in a store of " + std::to_string(store.size().n));
  }
  data_ = store.data() + store_offset;
  memory.register_b_transport(this, &DramChannel::b_transport);
  memory.register_transport_dbg(this, &DramChannel::transport_dbg);
  memory.register_get_direct_mem_ptr(this, &DramChannel::get_direct_mem_ptr);
  for (auto& socket : second) socket.register_b_transport(this, &DramChannel::second_transport);
}

inline tlm::tlm_response_status DramChannel::check(const tlm::tlm_generic_payload& payload, const AddressSlice& slice,
                                                   const MemoryAttributes* attributes) {
  const tlm::tlm_response_status status = check_access(payload, Bytes{~std::uint64_t{0}}, attributes);
  if (status != tlm::TLM_OK_RESPONSE) return status;
  return slice.contains(payload.get_address(), payload.get_data_length()) ? tlm::TLM_OK_RESPONSE
                                                                          : tlm::TLM_ADDRESS_ERROR_RESPONSE;
}

void DramChannel::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (access(payload, slice_, 0, delay)) move_data(payload, bytes_at(payload.get_address()));
}

// Rows of the second slice follow this channel's share of the first slice.
void DramChannel::second_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  access(payload, second_slice_, slice_.size().n / slice_.count(), delay);
}

// -- requests that wait for the command scheduler

bool DramChannel::Port::request(const MemoryRequest& request, Tick at, MemoryClient& client, std::uint32_t tag,
                                MemoryResponse& response) {
  DramChannel& channel = channel_;
  DramStatistics& statistics = channel.schedule_.statistics();
  response.made = request.made;
  response.arrived = response.done = at;
  response.queueing = response.service = response.mshr = Tick{};
  response.level = MemoryLevel::dram;
  response.failed = false;
  response.below = nullptr;
  if (!slice_.contains(request.address, request.bytes)) [[unlikely]] {
    ++statistics.errors;
    response.failed = true;
    return true;
  }
  const std::uint64_t address = first_local_ + slice_.local(request.address);
  const Tick arrives = at + channel.frontend_;
  const std::uint32_t number = take_record(channel.pending_, channel.free_pending_);
  channel.pending_[number] = {&client, tag, request.write, request.made, at};
  if (!request.write) {
    ++statistics.reads;
    statistics.bytes_read += request.bytes;
    ++channel.waiting_;
    channel.schedule_.read_later(address, request.bytes, arrives, number);
    response.done = arrives + channel.schedule_.answer_time();
    return false;
  }
  ++statistics.writes;
  statistics.bytes_written += request.bytes;
  const std::optional<Tick> accepted = channel.schedule_.write_later(address, request.bytes, arrives, number);
  if (!accepted) {
    ++channel.waiting_;
    ++channel.waiting_writes_;
    return false;
  }
  channel.free_pending_.push_back(number);
  response.queueing = *accepted - arrives;
  response.done = at + response.queueing;
  statistics.write_stall += response.queueing;
  return true;
}

// Advances in steps short enough that no response leads to a request that must be decided in the same step. A read's response
// follows its command after answer_time(); an accepted write can be followed by a request in the same cycle.
void DramChannel::decide(Tick until) {
  const Tick last = until + frontend_;
  Tick decided{};
  for (bool done = false; !done;) {
    const Tick next = waiting_ != 0 ? schedule_.next_decision() : kNever;
    Tick step = schedule_.answer_time();
    if (waiting_writes_ != 0) step = next > decided ? Tick{} : parameters_.clock.period();
    done = next >= last || next + step >= last;
    decided = done ? last : next + step;
    completed_.clear();
    schedule_.decide(decided, completed_);
    for (const DramSchedule::Completion& completion : completed_) {
      const Pending pending = pending_[completion.number];
      free_pending_.push_back(completion.number);
      --waiting_;
      MemoryResponse response{.made = pending.made, .arrived = pending.at, .level = MemoryLevel::dram};
      if (pending.write) {
        --waiting_writes_;
        response.done = completion.read.done - frontend_;
        response.queueing = response.done - pending.at;
        schedule_.statistics().write_stall += response.queueing;
      } else {
        response.done = completion.read.done;
        response.queueing = completion.read.waiting;
        response.service = response.done - pending.at - response.queueing;
        schedule_.statistics().read_latency += response.done - pending.at;
      }
      pending.client->on_response(pending.tag, response);
    }
  }
  retire_bookings();
}

Tick DramChannel::next_decision() {
  if (waiting_ == 0) return kNever;
  const Tick next = schedule_.next_decision();
  return next > frontend_ ? next - frontend_ : Tick{};
}

void DramChannel::retire_bookings() {
  const Tick now = this->now();
  if (now < next_retire_) return;
  next_retire_ = now + parameters_.clock.period() * kRetireCycles;
  schedule_.retire(now);
}

// -- transactions

void DramChannel::refuse(const tlm::tlm_generic_payload& payload) {
  ++schedule_.statistics().errors;
  guest_warning("refused DRAM accesses", "{}: {} of {} bytes at {:#x} refused ({})", name(),
                payload.is_write() ? "write" : "read", payload.get_data_length(), payload.get_address(),
                payload.get_response_string());
}

bool DramChannel::access(tlm::tlm_generic_payload& payload, const AddressSlice& slice, std::uint64_t first_local,
                         sc_core::sc_time& delay) {
  auto* attributes = payload.get_extension<MemoryAttributes>();
  const tlm::tlm_response_status status = check(payload, slice, attributes);
  payload.set_response_status(status);
  if (status != tlm::TLM_OK_RESPONSE) [[unlikely]] {
    refuse(payload);
    return false;
  }
  if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) return false;
  retire_bookings();
  const Tick at = now() + to_tick(delay);
  const unsigned length = payload.get_data_length();
  Tick done = at;
  Tick waiting{};
  DramStatistics& statistics = schedule_.statistics();
  const std::uint64_t address = first_local + slice.local(payload.get_address());
  if (payload.is_write()) {
    ++statistics.writes;
    statistics.bytes_written += length;
    done = schedule_.write(address, length, at + frontend_) - frontend_;
    waiting = done - at;
    statistics.write_stall += waiting;
  } else {
    ++statistics.reads;
    statistics.bytes_read += length;
    const DramSchedule::Read read = schedule_.read(address, length, at + frontend_);
    done = read.done;
    waiting = read.waiting;
    statistics.read_latency += done - at;
  }
  advance(delay, done - at);
  if (attributes == nullptr) return true;
  attributes->latency.add(MemoryLevel::dram, waiting, done - at - waiting);
  return !attributes->timing_only;
}

unsigned DramChannel::transport_dbg(tlm::tlm_generic_payload& payload) {
  const tlm::tlm_response_status status = check(payload, slice_, payload.get_extension<MemoryAttributes>());
  payload.set_response_status(status);
  if (status != tlm::TLM_OK_RESPONSE) return 0;
  move_data(payload, bytes_at(payload.get_address()));
  return payload.get_data_length();
}

bool DramChannel::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  const std::uint64_t address = payload.get_address();
  dmi.init();
  if (!slice_.contains(address, 1)) {
    dmi.allow_none();
    dmi.set_start_address(address);
    dmi.set_end_address(address);
    return false;
  }
  // Limits the region to the chunk: addresses beyond belong to another channel, although the bytes are adjacent in the store.
  const std::uint64_t begin = slice_.chunk_begin(address);
  const std::uint64_t last = slice_.chunk_last(address);
  dmi.set_dmi_ptr(reinterpret_cast<unsigned char*>(bytes_at(begin)));
  dmi.set_start_address(begin);
  dmi.set_end_address(last);
  const Tick latency = frontend_ + parameters_.clock.period() * (parameters_.tCL.n + parameters_.burst.n);
  dmi.set_read_latency(to_sc_time(latency));
  dmi.set_write_latency(to_sc_time(latency));
  dmi.allow_read_write();
  return true;
}

void DramChannel::reset() {
  schedule_.reset();
  pending_.clear();
  free_pending_.clear();
  waiting_ = waiting_writes_ = 0;
  next_retire_ = {};
}

void DramChannel::describe_energy(EnergyMeter& meter, const DramEnergy& energy) const {
  const DramStatistics& s = statistics();
  meter.add("dram", "activate", s.row_empty, energy.activate);
  meter.add("dram", "activate", s.row_conflicts, energy.activate);
  meter.add("dram", "read_byte", s.bytes_read, energy.read, DataKind::dram);
  meter.add("dram", "write_byte", s.bytes_written, energy.write, DataKind::dram);
  meter.add("dram_io", "byte", s.bytes_read, energy.io, DataKind::dram);
  meter.add("dram_io", "byte", s.bytes_written, energy.io, DataKind::dram);
  meter.add_static("dram", energy.background, StaticPower::constant);
  meter.add("memory_controller", "request", s.reads, energy.controller_request);
  meter.add("memory_controller", "request", s.writes, energy.controller_request);
  meter.add_static("memory_controller", energy.controller_static, StaticPower::constant);
  if (parameters_.tREFI == Cycles{}) return;
  const double interval = static_cast<double>(Clock(parameters_.clock).ticks(parameters_.tREFI).ps);
  meter.add_static("dram_refresh", parameters_.pseudo_channels * energy.refresh / interval,  // pJ / ps, that is W
                   StaticPower::constant);
}

}  // namespace lacuna
