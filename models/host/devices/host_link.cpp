#include "models/host/devices/host_link.h"

#include "models/common/config/guest_mistake.h"
#include "models/common/time/tlm_time.h"
#include "models/common/transport/memory_access.h"

namespace lacuna {
namespace {

/// Number of requests after which calendars drop past bookings.
constexpr std::uint64_t kRetireInterval = 4096;

}  // namespace

void HostLinkParameters::describe(ParameterSection& section) {
  constexpr std::string_view kBase = "PCI Express Base Specification 3.0, chapters 2 to 4";
  constexpr std::string_view kMeasured =
      "Neugebauer et al., Understanding PCIe performance for end host networking (SIGCOMM "
      "'18), section 6: about 550 ns for a 64 B read";
  section.add("lanes", lanes, "Lanes of the link", {.range = {1, 32}, .unit = "lanes", .source = kBase});
  section.add("transfer_rate", transfer_rate, "Transfers a second on each lane; 128 of 130 bits are data",
              {.range = {1e9, 1e12}, .source = kBase});
  section.add("read_latency", read_latency, "Latency of a read, without the time on the link", {.source = kMeasured});
  section.add("write_latency", write_latency, "Time from a posted write's last byte on the link to memory",
              {.source = "half of a read's: a posted write has no response"});
  section.add("max_payload", max_payload, "Maximum data bytes of a packet",
              {.range = {64, 4096}, .power_of_two = true, .source = kBase});
  section.add("packet_overhead", packet_overhead, "Framing, sequence number, header and checksum of one packet",
              {.range = {0, 64}, .source = kBase});
}

void HostLinkStatistics::describe(StatisticsGroup& group) const {
  group.add("reads", reads, "reads of host memory", "requests");
  group.add("writes", writes, "writes to host memory", "requests");
  group.add("bytes_read", bytes_read, "read from host memory", "bytes");
  group.add("bytes_written", bytes_written, "written to host memory", "bytes");
  group.add("errors", errors, "refused requests", "requests");
  group.add("queueing", queueing.ps, "time that requests and replies waited for the link", "ps");
  group.add("upstream_busy", upstream_busy.ps, "time that packets took from the device to the host", "ps");
  group.add("downstream_busy", downstream_busy.ps, "time that packets took from the host to the device", "ps");
}

HostLink::HostLink(sc_core::sc_module_name module_name, const HostLinkParameters& parameters)
    : sc_module(module_name), bus("bus"), parameters_(parameters) {
  bus.register_b_transport(this, &HostLink::b_transport);
}

Tick HostLink::transfer_time(Bytes bytes) const {
  const std::uint64_t packets = (bytes.n + parameters_.max_payload.n - 1) / parameters_.max_payload.n;
  const std::uint64_t total = bytes.n + (packets == 0 ? 1 : packets) * parameters_.packet_overhead.n;
  const double bits = static_cast<double>(total) * 8 * 130 / 128;
  return {static_cast<std::uint64_t>(bits * 1e12 / (static_cast<double>(parameters_.transfer_rate.hz) * parameters_.lanes))};
}

Tick HostLink::occupy(Calendar& direction, Tick& busy, Tick at, Tick duration) {
  const Tick start = direction.reserve(at, duration);
  statistics_.queueing += start - at;
  busy += duration;
  return start + duration;
}

void HostLink::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const Bytes length{payload.get_data_length()};
  if (!is_timing_only(payload) || length.n == 0) {
    ++statistics_.errors;
    guest_error("refused host link transfers",
                "{}: {} of {} bytes at bus address {:#x}: host memory is not reached by data transfers", name(),
                payload.is_write() ? "write" : "read", length.n, payload.get_address());
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return;
  }
  if (++requests_ % kRetireInterval == 0) {
    const Tick now = kernel_time();
    upstream_.retire(now);
    downstream_.retire(now);
  }
  const auto* attributes = payload.get_extension<MemoryAttributes>();
  const Tick at = local_time(delay);
  Tick done{};
  // An atomic operation transfers data in both directions.
  const bool atomic = attributes != nullptr && attributes->atomic;
  if (payload.is_write()) {
    ++statistics_.writes;
    statistics_.bytes_written += length.n;
    done = occupy(upstream_, statistics_.upstream_busy, at, transfer_time(length));
    if (!atomic) done += parameters_.write_latency;
  } else {
    ++statistics_.reads;
    done = occupy(upstream_, statistics_.upstream_busy, at, transfer_time({0}));
  }
  if (!payload.is_write() || atomic) {
    statistics_.bytes_read += length.n;
    done = occupy(downstream_, statistics_.downstream_busy, done + parameters_.read_latency, transfer_time(length));
  }
  set_local_time(delay, done);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

void HostLink::describe_energy(EnergyMeter& meter, const HostLinkEnergy& energy) const {
  meter.add("host_link", "byte", statistics_.bytes_read, energy.byte);
  meter.add("host_link", "byte", statistics_.bytes_written, energy.byte);
}

}  // namespace lacuna
