#include "models/energy/energy_parameters.h"

#include <fmt/format.h>

namespace lacuna {
namespace {

// Far more than any event or block of a GPU consumes: a larger value indicates a wrong unit.
constexpr double kMostPicojoules = 1e6;
constexpr double kMostWatts = 1e3;

void add_energy(ParameterSection& section, std::string_view name, double& member, std::string_view description) {
  section.add(name, member, description, {.range = {0, kMostPicojoules}, .unit = "pJ"});
}

void add_power(ParameterSection& section, std::string_view name, double& member, std::string_view description) {
  section.add(name, member, description, {.range = {0, kMostWatts}, .unit = "W"});
}

}  // namespace

void EnergyParameters::describe(ParameterSection& section) {
  section.add("model", model, "Whether energy is accounted for in addition to time; needs energies, as in configs/energy",
              {{"off", static_cast<int>(EnergyModel::off)}, {"on", static_cast<int>(EnergyModel::on)}});
  section.add("interval", interval, "Sampling interval of power.csv and of the peak power of kernels",
              {.range = {1e5, 1e12}, .source = "choice: power supplies and heat are slower"});
  section.add("table", table, "Whether the report at the end of a run has a table of the energy of kernels");
  section.add("fits", fits,
              "Presets of the machines that the energies are of, separated by blanks: a run of another preset begins with a "
              "warning. Empty: any");
  describe_compute(section);
  describe_memory(section);
  add_energy(section, "cp_dispatch", cp_dispatch, "Command processor: a dispatch, from packet to completion signal");
  add_energy(section, "cp_workgroup", cp_workgroup, "Dispatcher: launch and end of a workgroup");
  add_power(section, "cp_static", cp_static, "Command processor, dispatcher and SDMA engines: leakage and clocks");
  add_power(section, "board_static", board_static,
            "All that is not modelled: display and PCIe interfaces, losses of voltage regulators, fan");
}

void EnergyParameters::describe_compute(ParameterSection& section) {
  ComputeEnergy& c = compute;
  add_energy(section, "valu_int32", c.valu_int32, "Vector ALU, of a lane: 32-bit integer, logic, move, select");
  add_energy(section, "valu_f16", c.valu_f16, "Vector ALU, of a lane: half precision");
  add_energy(section, "valu_packed", c.valu_packed, "Vector ALU, of a lane: packed operation on two halves or two f32");
  add_energy(section, "valu_f32", c.valu_f32, "Vector ALU, of a lane: f32 addition, multiplication, comparison, conversion");
  add_energy(section, "valu_f32_fma", c.valu_f32_fma, "Vector ALU, of a lane: f32 multiply-add");
  add_energy(section, "valu_f64", c.valu_f64, "Vector ALU, of a lane: f64 addition, multiplication, comparison, conversion");
  add_energy(section, "valu_f64_fma", c.valu_f64_fma, "Vector ALU, of a lane: f64 multiply-add");
  add_energy(section, "valu_mul32", c.valu_mul32, "Vector ALU, of a lane: 32-bit integer multiplication");
  add_energy(section, "valu_transcendental", c.valu_transcendental,
             "Vector ALU, of a lane: reciprocal, root, sine, exponential");
  add_energy(section, "valu_transcendental_f64", c.valu_transcendental_f64, "The same in f64");
  add_energy(section, "valu_lane", c.valu_lane, "Vector ALU, of an instruction: v_readlane, v_readfirstlane, v_writelane");
  add_energy(section, "mfma_f64_pass", c.mfma_f64_pass, "Matrix unit: a pass of an f64 MFMA (four cycles, all lanes)");
  add_energy(section, "mfma_f32_pass", c.mfma_f32_pass, "Matrix unit: a pass of an f32 MFMA");
  add_energy(section, "mfma_narrow_pass", c.mfma_narrow_pass, "Matrix unit: a pass of an f16, bf16 or i8 MFMA");
  describe_matrix(section);
  add_energy(section, "salu", c.salu, "Scalar ALU: an instruction, branches included");
  add_energy(section, "vgpr_read", c.vgpr_read, "VGPR or AGPR file, of a lane: 32 bits read");
  add_energy(section, "vgpr_write", c.vgpr_write, "VGPR or AGPR file, of a lane: 32 bits written");
  add_energy(section, "sgpr_read", c.sgpr_read, "SGPR file: 32 bits read");
  add_energy(section, "sgpr_write", c.sgpr_write, "SGPR file: 32 bits written");
  add_energy(section, "issue", c.issue, "Of a wavefront's instruction: instruction buffer, decoding, arbitration, control");
  add_energy(section, "vmem_request", c.vmem_request, "Vector memory unit: addresses and data path of a line request");
  add_energy(section, "lds_word", c.lds_word, "LDS, of a lane: 32 bits read or written, crossbar included");
  add_energy(section, "lds_conflict", c.lds_conflict, "LDS: a cycle that bank conflicts add");
  add_energy(section, "simd_cycle", c.simd_cycle, "Clock and pipeline registers of a SIMD: a cycle in which it executes");
  add_energy(section, "matrix_cycle", c.matrix_cycle,
             "Clock and pipeline registers of a matrix unit: a cycle in which it executes");
  add_power(section, "cu_static", c.cu_static, "Of a compute unit: leakage, register files and LDS included");
  add_power(section, "cu_clock", c.cu_clock, "Of a compute unit: the clock tree, which is not gated while the unit idles");
}

void EnergyParameters::describe_matrix(ParameterSection& section) {
  MatrixEnergy& m = compute.matrix;
  constexpr std::string_view kTable24 = "thesis, Table 2.4";
  const auto factor = [&section](std::string_view name, double& member, std::string_view description, std::string_view source) {
    section.add(name, member, description, {.range = {0, 1000}, .source = source});
  };
  factor("mfma_power_m3xu_pipelined", m.power_m3xu_pipelined,
         "Power of a matrix unit with M3XU (mfma.design = m3xu_pipelined), relative to one without extensions", kTable24);
  factor("mfma_power_m3xu", m.power_m3xu, "The same of mfma.design = m3xu, in its longer cycle", kTable24);
  factor("mfma_power_fp32_native", m.power_fp32_native, "The same of mfma.design = fp32_native", kTable24);
  factor("mfma_power_simd2", m.power_simd2, "Factor of SIMD2 on the power", "thesis, section 3.6.1: 3.74 W and 0.79 W more");
  const struct {
    const char* name;
    double& member;
  } passes[] = {{"tf32", m.tf32},      {"fp32", m.fp32},       {"fp32c", m.fp32c},     {"fp64", m.fp64},
                {"mma", m.mma},        {"minplus", m.minplus}, {"maxplus", m.maxplus}, {"minmul", m.minmul},
                {"maxmul", m.maxmul},  {"minmax", m.minmax},   {"maxmin", m.maxmin},   {"orand", m.orand},
                {"addnorm", m.addnorm}};
  for (const auto& pass : passes)
    factor(fmt::format("mfma_{}", pass.name), pass.member,
           fmt::format("Energy of a pass of {}, relative to one of f16 in the same unit", pass.name),
           "the thesis has the power of whole units only");
}

void CacheEnergy::describe(ParameterSection& section, std::string_view cache) {
  const auto named = [cache](const char* what) { return fmt::format("{}_{}", cache, what); };
  add_energy(section, named("tag"), tag, "Look-up of a sector in the tags of all ways");
  add_energy(section, named("read"), read, "A byte read from the data array: hits and write-backs");
  add_energy(section, named("write"), write, "A byte written into the data array: fills and writes");
  add_energy(section, named("atomic"), atomic, "An atomic operation on a sector, in addition to its read and write");
  add_power(section, named("static"), cache_static, "Of one cache or bank: leakage and clock");
}

void TlbEnergy::describe(ParameterSection& section, std::string_view tlb) {
  add_energy(section, fmt::format("{}_lookup", tlb), lookup, "A translation looked up");
  add_power(section, fmt::format("{}_static", tlb), tlb_static, "Of one TLB: leakage and clock");
}

void EnergyParameters::describe_memory(ParameterSection& section) {
  l1v.describe(section, "l1v");
  l1s.describe(section, "l1s");
  l1i.describe(section, "l1i");
  l2.describe(section, "l2");
  l1z.describe(section, "l1z");
  l2z.describe(section, "l2z");
  l1_tlb.describe(section, "l1_tlb");
  l2_tlb.describe(section, "l2_tlb");
  add_energy(section, "page_walk", page_walk, "A walk of the page table, whose memory accesses are not modelled individually");
  add_energy(section, "noc_router", noc.router, "A byte of a flit's width through a switch");
  add_energy(section, "noc_link", noc.link, "A byte of a flit's width over a link (crossbar: over its wires)");
  add_power(section, "noc_static", noc.noc_static, "The whole network: leakage and clock");
  add_energy(section, "dram_activate", dram.activate, "A row activated and precharged");
  add_energy(section, "dram_read", dram.read, "A byte read, from the row buffer to the DRAM's pins");
  add_energy(section, "dram_write", dram.write, "A byte written, from the DRAM's pins to the row buffer");
  add_energy(section, "dram_io", dram.io, "A byte between the pins of DRAM and GPU, both ends included");
  add_energy(section, "dram_refresh", dram.refresh, "A refresh of all banks of a pseudo channel, every tREFI");
  add_power(section, "dram_background", dram.background, "Of one channel: background power of DRAM and PHY");
  add_energy(section, "sida_buffer_read", sida.buffer_read,
             "Sparse dataflow accelerator: a byte from its buffer to a core or to memory");
  add_energy(section, "sida_buffer_write", sida.buffer_write,
             "Sparse dataflow accelerator: a byte from a core or from memory into its buffer");
}

std::vector<std::string> EnergyParameters::check() const {
  if (!on()) return {};
  // Any single energy or power above 0 suffices: one block may be modelled alone.
  EnergyParameters none;
  none.model = model;
  none.interval = interval;
  none.table = table;
  none.fits = fits;
  if (*this != none) return {};
  return {"energy.model = on, but no energies are given: --config energy/r9nano has some"};
}

}  // namespace lacuna
