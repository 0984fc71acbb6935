#include "models/sdma/sdma_parameters.h"

#include <string_view>

namespace lacuna {

void SdmaParameters::describe(ParameterSection& s) {
  constexpr std::string_view kAssumed = "assumption, see docs/deviations/command.md";
  s.add("engines", engines, "SDMA engines", {.range = {1, 16}, .unit = "engines", .source = "Linux amdgpu: 2 on gfx803"});
  s.add("bytes_per_cycle", bytes_per_cycle, "Bytes that an engine moves in a core cycle",
        {.range = {1, 256}, .unit = "bytes", .source = "OLCF Frontier user guide: at most 50 GB/s an engine (1.7 GHz)"});
  s.add("request_bytes", request_bytes, "Bytes of a memory request",
        {.range = {32, 256},
         .power_of_two = true,
         .unit = "bytes",
         .source = "choice: 13 GB/s over PCI Express 3.0 x16, as measured for copies on GPUs of that time"});
  s.add("requests_in_flight", requests_in_flight, "Requests of an engine that may be in flight",
        {.range = {1, 4096}, .unit = "requests", .source = kAssumed});
  s.add("packet_latency", packet_latency, "Core cycles to process one packet", {.range = {0, 1'000'000}, .source = kAssumed});
  s.add("poll_interval", poll_interval, "Polling interval for memory that a packet waits for",
        {.range = {1000, 1e9}, .source = kAssumed});
  s.add("gfx8_pitch", gfx8_pitch, "Layout of the pitches of sub-window copies on gfx8",
        {{"silicon", static_cast<int>(sdma::Gfx8Pitch::silicon)}, {"rocm", static_cast<int>(sdma::Gfx8Pitch::rocm)}},
        {.source = "Linux amdgpu; ROCm runtime, see docs/deviations/command.md"});
}

void SdmaStatistics::describe(StatisticsGroup& g) const {
  g.add("packets", packets, "packets carried out", "packets");
  g.add("copies", copies, "linear and sub-window copies", "packets");
  g.add("fills", fills, "constant fills", "packets");
  g.add("bytes_read", bytes_read, "data read by copies", "bytes");
  g.add("bytes_written", bytes_written, "data written by copies, fills and writes", "bytes");
  g.add("fences", fences, "fences written", "packets");
  g.add("traps", traps, "interrupts raised", "packets");
  g.add("atomics", atomics, "atomic operations performed", "packets");
  g.add("polls", polls, "polls of memory that a packet waits for", "reads");
  g.add("errors", errors, "queues stopped by a bad packet or address", "events");
  g.add("busy", busy, "time during which packets were carried out");
}

}  // namespace lacuna
