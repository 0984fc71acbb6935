#include "models/sida/machine/machine_parameters.h"

#include <string_view>

namespace lacuna::sida {

void MachineParameters::describe(ParameterSection& s) {
  constexpr std::string_view kThesis = "thesis, section 4.5.1", kOurs = "ours, see docs/deviations/sida.md";
  s.add("pes", pes, "Processing elements of each of the three cores", {.range = {1, 65536}, .unit = "PEs", .source = kThesis});
  s.add("buffer", buffer, "Capacity of the buffer that columns, rows and vectors share",
        {.range = {1024, 1e12}, .source = kThesis});
  s.add("clock", clock, "Clock of the accelerator", {.range = {1e6, 1e10}, .source = kOurs});
  s.add("bytes_per_cycle", control.bytes_per_cycle, "Bytes that memory brings in a cycle, as the traffic estimator takes it",
        {.range = {1, 65536}, .unit = "bytes", .source = "thesis, section 4.5.1: 512 GB/s"});
  s.add("memory_latency", control.memory_latency,
        "Latency of memory, for the length of sub-tensors and for memory without a network",
        {.range = {1, 100000}, .unit = "cycles", .source = kOurs});
  s.add("sub_tensor", control.sub_tensor,
        "Columns of a sub-tensor, T, in passes with a product; 0: a power of two from 64 on with which a mean sub-tensor has "
        "twice latency times bandwidth",
        {.range = {0, 4294967295.0}, .unit = "columns", .source = kOurs});
  s.add("csr_reserve", control.csr_reserve, "What a row takes of the buffer when its first entry waits",
        {{"element", static_cast<int>(CsrReserve::element), "its own place"},
         {"row", static_cast<int>(CsrReserve::row), "room for the whole row, thesis, section 4.4.2"}},
        {.source = kOurs});
  s.add("prefetch", control.prefetch, "How far ahead columns are loaded",
        {{"stream", static_cast<int>(Prefetch::stream), "as far as their space holds"},
         {"step", static_cast<int>(Prefetch::step), "one sub-tensor, and a step waits for it, thesis, section 4.4.4"}},
        {.source = kOurs});
  s.add("balance", control.balance, "Entries that the CSR loader takes of a row",
        {{"mean", static_cast<int>(Balance::mean), "the mean of the rows up to it"},
         {"printed", static_cast<int>(Balance::printed), "as thesis, section 4.4.4 has it"}},
        {.source = kOurs});
  s.add("eager", control.eager, "Whether rows are loaded ahead of columns where memory would idle",
        {{"automatic", static_cast<int>(Eager::automatic), "as the traffic estimator says"},
         {"off", static_cast<int>(Eager::off), "never"}},
        {.source = "thesis, section 4.4.4"});
  s.add("scatter", control.scatter, "Products of one cycle for one sum",
        {{"serial", static_cast<int>(Scatter::serial), "one after the other"},
         {"tree", static_cast<int>(Scatter::tree), "added in pairs within the scatter network"}},
        {.source = kOurs});
}

PipelineParameters MachineParameters::pipeline() const {
  PipelineParameters p = control;
  p.os_pes = p.ewise_pes = p.is_pes = pes;
  p.buffer_bytes = buffer.n;
  return p;
}

}  // namespace lacuna::sida
