#include "models/dram/dram_channel.h"

#include <spdlog/spdlog.h>

#include <bit>
#include <stdexcept>
#include <string>

#include "models/common/memory_access.h"
#include "models/common/tlm_time.h"

namespace lacuna {
namespace {

constexpr unsigned kRetireInterval = 64;

}  // namespace

void DramParameters::describe(ParameterSection& section) {
  section.add("clock", clock, "Clock of the data bus", {.range = {1e6, 1e12}});
  section.add("frontend_latency", frontend_latency, "Controller and interface, both ways together", {.range = {0, 1e5}});
  section.add("bytes_per_cycle", bytes_per_cycle, "Width of the data bus per cycle", {.range = {1, 4096}, .unit = "bytes"});
  section.add("banks", banks, "Banks of a channel", {.range = {1, 1024}, .power_of_two = true});
  section.add("row_size", row_size, "Bytes of a row", {.range = {64, 1 << 20}, .power_of_two = true});
  section.add("row_to_column", row_to_column, "Activate to column command (tRCD)", {.range = {0, 1e4}});
  section.add("precharge", precharge, "Precharge to activate (tRP)", {.range = {0, 1e4}});
  section.add("cas_latency", cas_latency, "Column command to first data (tCL)", {.range = {0, 1e4}});
  section.add("write_queue", write_queue, "Writes that may wait for the bus", {.range = {1, 4096}});
}

void DramStatistics::describe(StatisticsGroup& group) const {
  group.add("reads", reads, "reads", "transactions");
  group.add("writes", writes, "writes", "transactions");
  group.add("bytes_read", bytes_read, "data read", "bytes");
  group.add("bytes_written", bytes_written, "data written", "bytes");
  group.add("row_hits", row_hits, "accesses to the open row", "transactions");
  group.add("row_empty", row_empty, "accesses to a bank without open row", "transactions");
  group.add("row_conflicts", row_conflicts, "accesses to a bank with another row open", "transactions");
  group.add("errors", errors, "refused transactions", "transactions");
  group.add("bus_busy", bus_busy, "time that the data bus carried data");
  group.add("queueing", queueing, "time that accesses waited for bank and bus");
  group.add("write_stall", write_stall, "time that writes waited to enter the write queue");
  group.add("read_latency", read_latency, "time from request to data, summed over reads");
}

DramChannel::DramChannel(sc_core::sc_module_name module_name, const DramParameters& parameters, const AddressSlice& slice,
                         BackingStore& store, std::uint64_t store_offset)
    : sc_module(module_name),
      memory("memory"),
      parameters_(parameters),
      slice_(slice),
      data_(nullptr),
      cycle_(parameters.clock.period()),
      frontend_(cycle_ * parameters.frontend_latency.n),
      activate_(cycle_ * parameters.row_to_column.n),
      precharge_(cycle_ * parameters.precharge.n),
      cas_(cycle_ * parameters.cas_latency.n),
      banks_(parameters.banks),
      write_queue_(parameters.write_queue) {
  const std::string where = this->name();
  if (!std::has_single_bit(parameters.banks) || !std::has_single_bit(parameters.row_size.n)) {
    throw std::invalid_argument(where + ": banks and row size must be powers of two");
  }
  if (parameters.bytes_per_cycle == 0 || parameters.write_queue == 0) {
    throw std::invalid_argument(where + ": bytes per cycle and write queue must not be 0");
  }
  if (store_offset > store.size().n || slice.size().n > store.size().n - store_offset) {
    throw std::invalid_argument(where + ": " + std::to_string(slice.size().n) + " bytes at " + std::to_string(store_offset) +
                                " are not in a store of " + std::to_string(store.size().n));
  }
  data_ = store.data() + store_offset;
  memory.register_b_transport(this, &DramChannel::b_transport);
  memory.register_transport_dbg(this, &DramChannel::transport_dbg);
  memory.register_get_direct_mem_ptr(this, &DramChannel::get_direct_mem_ptr);
}

tlm::tlm_response_status DramChannel::check(const tlm::tlm_generic_payload& payload) const {
  const tlm::tlm_response_status status = check_access(payload, Bytes{~std::uint64_t{0}});
  if (status != tlm::TLM_OK_RESPONSE) return status;
  return slice_.contains(payload.get_address(), payload.get_data_length()) ? tlm::TLM_OK_RESPONSE
                                                                           : tlm::TLM_ADDRESS_ERROR_RESPONSE;
}

DramChannel::Service DramChannel::serve(std::uint64_t address, unsigned length, Tick at) {
  const std::uint64_t row_number = slice_.local(address) >> std::countr_zero(parameters_.row_size.n);
  Bank& bank = banks_[row_number & (banks_.size() - 1)];
  const std::uint64_t row = row_number >> std::countr_zero(banks_.size());
  Tick preparation{};
  if (bank.open_row == row) {
    ++statistics_.row_hits;
  } else if (bank.open_row == kNoRow) {
    ++statistics_.row_empty;
    preparation = activate_;
  } else {
    ++statistics_.row_conflicts;
    preparation = precharge_ + activate_;
  }
  bank.open_row = row;
  const Tick burst = cycle_ * ((length + parameters_.bytes_per_cycle - 1) / parameters_.bytes_per_cycle);
  const Tick arrives = at + frontend_;
  const Tick start = bank.calendar.reserve(arrives, preparation + burst);
  const Tick data = start + preparation + cas_;
  const Tick bus = bus_.reserve(data, burst);
  statistics_.bus_busy = bus_.busy();
  const Tick waiting = (start - arrives) + (bus - data);
  statistics_.queueing += waiting;
  return {bus + burst, waiting};
}

void DramChannel::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const tlm::tlm_response_status status = check(payload);
  payload.set_response_status(status);
  if (status != tlm::TLM_OK_RESPONSE) {
    ++statistics_.errors;
    spdlog::warn("{}: {} of {} bytes at {:#x} refused ({})", name(), payload.is_write() ? "write" : "read",
                 payload.get_data_length(), payload.get_address(), payload.get_response_string());
    return;
  }
  if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) return;
  if (until_retire_-- == 0) retire();

  const Tick at = local_time(delay);
  const unsigned length = payload.get_data_length();
  Tick done = at;
  Tick waiting{};
  if (payload.is_write()) {
    ++statistics_.writes;
    statistics_.bytes_written += length;
    done = write_queue_.acquire(at);
    waiting = done - at;
    statistics_.write_stall += waiting;
    write_queue_.occupy(done, serve(payload.get_address(), length, done).done);
  } else {
    ++statistics_.reads;
    statistics_.bytes_read += length;
    const Service service = serve(payload.get_address(), length, at);
    done = service.done;
    waiting = service.waiting;
    statistics_.read_latency += done - at;
  }
  if (auto* attributes = payload.get_extension<MemoryAttributes>()) {
    attributes->latency.add(MemoryLevel::dram, waiting, done - at - waiting);
  }
  advance(delay, done - at);
  move_data(payload, bytes_at(payload.get_address()));
}

unsigned DramChannel::transport_dbg(tlm::tlm_generic_payload& payload) {
  const tlm::tlm_response_status status = check(payload);
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
  // What lies beyond the chunk belongs to another channel, though the bytes are next to each other in the store.
  const std::uint64_t begin = slice_.chunk_begin(address);
  const std::uint64_t last = slice_.chunk_last(address);
  dmi.set_dmi_ptr(reinterpret_cast<unsigned char*>(bytes_at(begin)));
  dmi.set_start_address(begin);
  dmi.set_end_address(last);
  const Tick latency = frontend_ + cas_ + cycle_;
  dmi.set_read_latency(to_sc_time(latency));
  dmi.set_write_latency(to_sc_time(latency));
  dmi.allow_read_write();
  return true;
}

void DramChannel::reset() {
  for (Bank& bank : banks_) {
    bank.calendar.reset();
    bank.open_row = kNoRow;
  }
  bus_.reset();
  write_queue_.reset();
  until_retire_ = 0;
}

void DramChannel::retire() {
  until_retire_ = kRetireInterval;
  const Tick horizon = to_tick(sc_core::sc_time_stamp());
  for (Bank& bank : banks_) bank.calendar.retire(horizon);
  bus_.retire(horizon);
  write_queue_.retire(horizon);
}

}  // namespace lacuna
