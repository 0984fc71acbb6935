#include "models/noc/fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "models/common/config/guest_mistake.h"
#include "models/common/host/host_prefetch.h"
#include "models/common/time/tlm_time.h"
#include "models/noc/booked_network.h"
#include "models/noc/crossbar.h"
#include "models/noc/stepped_network.h"

namespace lacuna {
namespace {

// Minimum number of cycles between two drops of past bookings. Calendars extend from the time of the last drop to the latest
// booking.
constexpr unsigned kRetireCycles = 128;

}  // namespace

void FabricStatistics::describe(StatisticsGroup& group) const {
  group.add("packets", packets, "packets, requests and replies", "packets");
  group.add("flits", flits, "flits, requests and replies", "flits");
  group.add("hops", hops, "links passed, summed over packets", "links");
  group.add("weighted_hops", weighted_hops, "flits times links", "flits");
  group.add("errors", errors, "transactions to addresses without a route", "transactions");
  group.add("queueing", queueing, "time that packets waited for links");
  group.add("latency", latency, "time from injection to arrival, summed over packets");
  const auto describe_ports = [&group](const char* prefix, const std::vector<FabricPortStatistics>& ports) {
    for (std::size_t i = 0; i < ports.size(); ++i) {
      StatisticsGroup& port = group.group(prefix + std::to_string(i));
      port.add("packets", ports[i].packets, "packets to and from this port", "packets");
      port.add("flits", ports[i].flits, "flits to and from this port", "flits");
      port.add("queueing", ports[i].queueing, "time that its packets waited for links");
    }
  };
  describe_ports("source", sources);
  describe_ports("destination", destinations);
  StatisticsGroup& injected = group.group("injection");
  injected.set_breakdown();
  injection.describe(injected);
}

Fabric::Fabric(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count,
               AddressRoutes routes, const FabricGuests& guests)
    : sc_module(module_name),
      sources("source", source_count + static_cast<unsigned>(guests.sources.size())),
      destinations("destination", routes.destinations()),
      parameters_(parameters),
      routes_(std::move(routes)),
      placement_(
          place(parameters, source_count, routes_.destinations() - static_cast<unsigned>(guests.destinations.size()), guests)),
      retire_period_(parameters.clock.period() * kRetireCycles) {
  for (unsigned i = 0; i < sources.size(); ++i) {
    const int tag = static_cast<int>(i);
    sources[i].register_b_transport(this, &Fabric::b_transport, tag);
    sources[i].register_transport_dbg(this, &Fabric::transport_dbg, tag);
    sources[i].register_get_direct_mem_ptr(this, &Fabric::get_direct_mem_ptr, tag);
  }
  for (unsigned i = 0; i < destinations.size(); ++i) {
    destinations[i].register_invalidate_direct_mem_ptr(this, &Fabric::invalidate_direct_mem_ptr, static_cast<int>(i));
  }
  statistics_.sources.resize(sources.size());
  statistics_.destinations.resize(destinations.size());
  statistics_.injection = InjectionStatistics(nodes(), parameters.virtual_networks);
  prefetch_.resize(destinations.size());
}

void Fabric::reset() { next_retire_ = {}; }

void Fabric::b_transport(int source, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const Tick now = kernel_time();
  advance(now);
  AddressRoutes::Hop hop;
  if (!route(payload.get_address(), hop)) {
    ++statistics_.errors;
    log_unroutable(static_cast<unsigned>(source), payload);
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  } else if (payload.get_data_length() <= hop.contiguous) {
    transport_whole(static_cast<unsigned>(source), hop.destination, payload, now, delay);
  } else {
    transport_split(static_cast<unsigned>(source), payload, now, delay);
  }
}

void Fabric::transport_whole(unsigned source, unsigned destination, tlm::tlm_generic_payload& payload, Tick now,
                             sc_core::sc_time& delay) {
  if (prefetch_[destination] != nullptr) prefetch_[destination]->prefetch(payload.get_address());
  auto* attributes = payload.get_extension<MemoryAttributes>();
  const unsigned length = payload.get_data_length();
  const bool write = payload.is_write();
  const bool atomic = attributes != nullptr && attributes->atomic;
  const Tick at = now + to_tick(delay);
  const Traversal there = carry(VirtualNetwork::request, source, destination, request_flits(length, write, atomic), at);
  assign(delay, there.arrival - now);
  destinations[destination]->b_transport(payload, delay);
  const Tick served = now + to_tick(delay);
  const Traversal back = carry(VirtualNetwork::reply, source, destination, reply_flits(length, write, atomic), served);
  assign(delay, back.arrival - now);
  if (attributes == nullptr) return;
  const Tick waiting = there.waiting + back.waiting;
  attributes->latency.add(MemoryLevel::noc, waiting, there.arrival - at + (back.arrival - served) - waiting);
  attributes->latency.injection += back.injection;
}

Fabric::Traversal Fabric::send(unsigned from, unsigned to, VirtualNetwork network, unsigned flits, Tick at) {
  if (from >= nodes() || to >= nodes()) {
    throw std::out_of_range(fmt::format("{}: a packet from node {} to {}, there are {}", name(), from, to, nodes()));
  }
  if (static_cast<unsigned>(network) >= parameters_.virtual_networks) {
    throw std::out_of_range(fmt::format("{}: a packet on virtual network {}, there are {}", name(),
                                        static_cast<unsigned>(network), parameters_.virtual_networks));
  }
  const Traversal traversal = transfer(from, to, network, flits, at);
  count(traversal, from, network, flits, at);
  return traversal;
}

Fabric::Traversal Fabric::traverse(VirtualNetwork network, unsigned source, unsigned destination, unsigned flits, Tick at) {
  const Ends path = ends(network, source, destination);
  return send(path.from, path.to, network, flits, at);
}

Fabric::Traversal Fabric::carry(const Ends& ends, VirtualNetwork network, unsigned flits, Tick at) {
  const Traversal traversal = transfer(ends.from, ends.to, network, flits, at);
  count_carried(traversal, ends, network, flits, at);
  return traversal;
}

void Fabric::count_carried(const Traversal& traversal, const Ends& ends, VirtualNetwork network, unsigned flits, Tick at) {
  count(traversal, ends.from, network, flits, at);
  const FabricPortStatistics passed{.packets = 1, .flits = flits, .queueing = traversal.waiting};
  if (ends.source != kNone) statistics_.sources[ends.source] += passed;
  if (ends.destination != kNone) statistics_.destinations[ends.destination] += passed;
}

void Fabric::count(FabricTally& tally) {
  for (std::size_t i = 0; i < tally.destinations.size(); ++i) {
    if (tally.destinations[i].packets == 0) continue;
    const FabricPortStatistics passed = std::exchange(tally.destinations[i], {});
    statistics_.packets += passed.packets;
    statistics_.flits += passed.flits;
    statistics_.hops += passed.packets;
    statistics_.weighted_hops += passed.flits;
    statistics_.queueing += passed.queueing;
    statistics_.destinations[i] += passed;
  }
  statistics_.latency += std::exchange(tally.latency, {});
}

std::vector<unsigned> Fabric::path_nodes(unsigned from, unsigned to, unsigned) const {
  return from == to ? std::vector<unsigned>{from} : std::vector<unsigned>{from, to};
}

void Fabric::transport_split(unsigned source, tlm::tlm_generic_payload& payload, Tick now, sc_core::sc_time& delay) {
  const std::uint64_t end = payload.get_address() + payload.get_data_length();
  AddressRoutes::Hop hop;
  for (std::uint64_t address = payload.get_address(); address < end; address += hop.contiguous) {
    if (route(address, hop)) continue;
    ++statistics_.errors;
    log_unroutable(source, payload);
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  if (payload.get_streaming_width() < payload.get_data_length()) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  // A repeating byte enable pattern would have to be rotated for each part. No initiator sends such a transaction to several
  // destinations.
  const bool enables = payload.get_byte_enable_ptr() != nullptr;
  if (enables && payload.get_byte_enable_length() < payload.get_data_length()) {
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    return;
  }
  auto* attributes = payload.get_extension<MemoryAttributes>();
  sc_core::sc_time latest = delay;
  LatencyBreakdown breakdown;
  tlm::tlm_response_status response = tlm::TLM_OK_RESPONSE;
  unsigned first = 0;
  while (first < payload.get_data_length()) {
    route(payload.get_address() + first, hop);
    const auto length = static_cast<unsigned>(std::min<std::uint64_t>(hop.contiguous, payload.get_data_length() - first));
    PooledPayload part(payloads_);
    if (attributes != nullptr) {
      part.attributes() = *attributes;
      part.attributes().latency = {};
      part.attributes().byte_mask =
          payload.get_data_length() <= ByteMask::kBytes ? attributes->byte_mask >> first : ByteMask::all();
    }
    part->set_command(payload.get_command());
    part->set_address(payload.get_address() + first);
    if (payload.get_data_ptr() != nullptr) part->set_data_ptr(payload.get_data_ptr() + first);
    part->set_data_length(length);
    part->set_streaming_width(length);
    if (enables) {
      part->set_byte_enable_ptr(payload.get_byte_enable_ptr() + first);
      part->set_byte_enable_length(length);
    }
    sc_core::sc_time part_delay = delay;
    transport_whole(source, hop.destination, *part, now, part_delay);
    if (response == tlm::TLM_OK_RESPONSE) response = part->get_response_status();
    if (part_delay >= latest) {
      latest = part_delay;
      breakdown = part.attributes().latency;
    }
    first += length;
  }
  delay = latest;
  if (attributes != nullptr) attributes->latency += breakdown;
  payload.set_response_status(response);
}

unsigned Fabric::transport_dbg(int, tlm::tlm_generic_payload& payload) {
  const std::uint64_t address = payload.get_address();
  AddressRoutes::Hop hop;
  if (!route(address, hop)) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return 0;
  }
  if (payload.get_data_length() <= hop.contiguous) return destinations[hop.destination]->transport_dbg(payload);

  unsigned char* data = payload.get_data_ptr();
  const unsigned total = payload.get_data_length();
  for (std::uint64_t a = address; a < address + total; a += hop.contiguous) {
    if (route(a, hop)) continue;
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return 0;
  }
  unsigned moved = 0;
  while (moved < total) {
    route(address + moved, hop);
    const auto length = static_cast<unsigned>(std::min<std::uint64_t>(hop.contiguous, total - moved));
    PooledPayload part(payloads_);
    part->set_command(payload.get_command());
    part->set_address(address + moved);
    part->set_data_ptr(data + moved);
    part->set_data_length(length);
    part->set_streaming_width(length);
    if (const unsigned char* enables = payload.get_byte_enable_ptr(); enables != nullptr) {
      if (payload.get_byte_enable_length() < total) break;
      part->set_byte_enable_ptr(payload.get_byte_enable_ptr() + moved);
      part->set_byte_enable_length(length);
    }
    if (destinations[hop.destination]->transport_dbg(*part) != length) break;
    moved += length;
  }
  payload.set_response_status(moved == total ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
  return moved;
}

bool Fabric::get_direct_mem_ptr(int, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  const std::uint64_t address = payload.get_address();
  AddressRoutes::Hop hop;
  if (!route(address, hop)) {
    dmi.allow_none();
    dmi.set_start_address(address);
    dmi.set_end_address(address);
    return false;
  }
  const bool granted = destinations[hop.destination]->get_direct_mem_ptr(payload, dmi);
  const AddressSlice slice = routes_.slice(hop.destination);
  const std::uint64_t begin = std::max<std::uint64_t>(dmi.get_start_address(), slice.chunk_begin(address));
  if (granted) dmi.set_dmi_ptr(dmi.get_dmi_ptr() + (begin - dmi.get_start_address()));
  dmi.set_start_address(begin);
  dmi.set_end_address(std::min<std::uint64_t>(dmi.get_end_address(), slice.chunk_last(address)));
  return granted;
}

void Fabric::invalidate_direct_mem_ptr(int, sc_dt::uint64 begin, sc_dt::uint64 end) {
  for (unsigned i = 0; i < sources.size(); ++i) sources[i]->invalidate_direct_mem_ptr(begin, end);
}

void Fabric::log_unroutable(unsigned source, const tlm::tlm_generic_payload& payload) const {
  const AddressRoute* nearest = routes_.nearest(payload.get_address());
  const char* command = payload.is_write() ? "write" : "read";
  if (nearest == nullptr) {
    guest_warning("unrouted network accesses", "{}: {} of {} bytes at {:#x} by source {}: there are no routes", name(), command,
                  payload.get_data_length(), payload.get_address(), source);
    return;
  }
  guest_warning("unrouted network accesses",
                "{}: {} of {} bytes at {:#x} by source {} is not routed (nearest range: {} at {:#x}..{:#x})", name(), command,
                payload.get_data_length(), payload.get_address(), source, nearest->name, nearest->base,
                nearest->base + (nearest->size.n - 1));
}

void Fabric::describe_energy(EnergyMeter& meter, const NocEnergy& energy) const {
  meter.add("noc_router", "flit", statistics_.flits, energy.router * parameters_.width, DataKind::links);
  meter.add_static("noc_router", energy.leakage, StaticPower::leakage);
  meter.add_static("noc_router", energy.clock, StaticPower::clock);
  meter.add("noc_link", "flit", statistics_.weighted_hops, energy.link * parameters_.width, DataKind::links);
}

std::unique_ptr<Fabric> make_fabric(sc_core::sc_module_name module_name, const FabricParameters& parameters,
                                    unsigned source_count, AddressRoutes routes, const FabricGuests& guests) {
  if (!parameters.topology->has_routers()) {
    return std::make_unique<Crossbar>(module_name, parameters, source_count, std::move(routes), guests);
  }
  if (parameters.routers == RouterModel::stepped) {
    return std::make_unique<SteppedNetwork>(module_name, parameters, source_count, std::move(routes), guests);
  }
  return std::make_unique<BookedNetwork>(module_name, parameters, source_count, std::move(routes), guests);
}

}  // namespace lacuna
