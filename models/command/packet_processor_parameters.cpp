#include "models/command/packet_processor_parameters.h"

#include <string_view>

namespace lacuna {

void PacketProcessorParameters::describe(ParameterSection& s) {
  constexpr std::string_view kAssumed = "assumption, see docs/deviations/command.md";
  s.add("queue_slots", queue_slots, "Hardware queue slots", {.range = {1, 512}, .unit = "queues", .source = kAssumed});
  s.add("dispatches_in_flight", dispatches_in_flight, "Kernel dispatches of one queue that may run at the same time",
        {.range = {1, 64}, .unit = "dispatches", .source = kAssumed});
  s.add("packet_latency", packet_latency, "Core cycles to process one packet", {.range = {0, 1'000'000}, .source = kAssumed});
  s.add("launch_latency", launch_latency,
        "Core cycles at a dispatch's start, before its first workgroup, which count as its time; other packets wait meanwhile",
        {.range = {0, 1'000'000},
         .source = "choice: a dispatch is timed from its start; MGPUSim v3.0.3 counts the way from its driver and back"});
  s.add("cold_dispatch", cold_dispatch, "Start every dispatch with cold TLB and L2 entries for its code, arguments and packet",
        {.source = "choice: as the program lays them out; MGPUSim v3.0.3 allocates and copies them for each launch"});
  s.add("flush_before_dispatch", flush_before_dispatch,
        "Empty all caches before every dispatch; L2 writes back. TLBs keep their entries, and the dispatch's time starts "
        "afterwards",
        {.source = "choice: only fences; MGPUSim v3.0.3 flushes before it copies code, arguments and packet of a launch"});
  s.add("poll_interval", poll_interval, "Polling interval for unsatisfied signals and incomplete packets",
        {.range = {1000, 1e9}, .source = kAssumed});
  s.add("instant_blits", instant_blits,
        "Whether copy and fill kernels of the ROCm runtime complete immediately, taking only the time of their packet, instead "
        "of being executed",
        {.source = "choice: as on the GPU"});
  s.renamed("fresh_pages", "cold_dispatch");
  s.renamed("blits_at_once", "instant_blits");
}

void PacketProcessorStatistics::describe(StatisticsGroup& g) const {
  g.add("dispatches", dispatches, "kernel dispatch packets started", "packets");
  g.add("blits", blits, "of these, kernels of the runtime completed immediately", "packets");
  g.add("bulk_blits", bulk_blits, "of these, copies and fills of the runtime that may be performed in bulk", "packets");
  g.add("barriers", barriers, "barrier packets carried out", "packets");
  g.add("pm4_packets", pm4_packets, "packets of PM4 commands carried out", "packets");
  g.add("scratch_requests", scratch_requests, "requests to the runtime to allocate or release scratch memory", "requests");
  g.add("queue_errors", queue_errors, "times a queue went to the failed state", "events");
  g.add("doorbells", doorbells, "doorbell writes, or changes of a write index that were noticed", "writes");
  g.add("signals", signals, "completion signals decremented", "signals");
  g.add("events", events, "events posted to mailboxes", "events");
  g.add("acquires", acquires, "acquire fences that invalidated L1 caches", "fences");
  g.add("releases", releases, "release fences that wrote back L2", "fences");
}

}  // namespace lacuna
