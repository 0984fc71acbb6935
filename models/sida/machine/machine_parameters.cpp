#include "models/sida/machine/machine_parameters.h"

#include <string_view>

namespace lacuna::sida {

void MachineParameters::describe(ParameterSection& s) {
  constexpr std::string_view kThesis = "thesis, section 4.5.1", kOurs = "ours, see docs/deviations/sida.md";
  s.add("pes", pes, "Processing elements of each of the three cores", {.range = {1, 65536}, .unit = "PEs", .source = kThesis});
  s.add("buffer", buffer, "Capacity of the buffer shared by columns, rows and vectors",
        {.range = {1024, 1e12}, .source = kThesis});
  s.add("clock", clock, "Clock of the accelerator", {.range = {1e6, 1e10}, .source = kOurs});
  s.add("bytes_per_cycle", control.bytes_per_cycle, "Memory bandwidth assumed by the traffic estimator, in bytes per cycle",
        {.range = {1, 65536}, .unit = "bytes", .source = "thesis, section 4.5.1: 512 GB/s"});
  s.add("memory_latency", control.memory_latency,
        "Latency of memory, for the length of sub-tensors and for memory without a network",
        {.range = {1, 100000}, .unit = "cycles", .source = kOurs});
  s.add("sub_tensor", control.sub_tensor,
        "Columns of a sub-tensor, T, in passes with a product; 0: a power of two from 64 on with which a mean sub-tensor has "
        "twice latency times bandwidth",
        {.range = {0, 4294967295.0}, .unit = "columns", .source = kOurs});
  s.add("csr_reserve", control.csr_reserve, "Space that a row occupies in the buffer when its first entry waits",
        {{"element", static_cast<int>(CsrReserve::element), "that of the entry"},
         {"row", static_cast<int>(CsrReserve::row), "that of the whole row, thesis, section 4.4.2"}},
        {.source = kOurs});
  s.add("prefetch", control.prefetch, "How far ahead columns are loaded",
        {{"stream", static_cast<int>(Prefetch::stream), "as far as their space allows"},
         {"step", static_cast<int>(Prefetch::step), "one sub-tensor, and a step waits for it, thesis, section 4.4.4"}},
        {.source = kOurs});
  s.add("balance", control.balance, "Number of entries of a row that the CSR loader fetches",
        {{"mean", static_cast<int>(Balance::mean), "the mean of the rows up to it"},
         {"printed", static_cast<int>(Balance::printed), "the formula of the thesis, section 4.4.4"}},
        {.source = kOurs});
  s.add("eager", control.eager, "Whether rows are loaded ahead of columns when memory would be idle",
        {{"automatic", static_cast<int>(Eager::automatic), "by the traffic estimator"},
         {"off", static_cast<int>(Eager::off), "never"}},
        {.source = "thesis, section 4.4.4"});
  s.add("scatter", control.scatter, "Execution of products of one cycle for the same sum",
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
