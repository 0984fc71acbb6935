#include <algorithm>

#include "models/energy/energy_parameters.h"

namespace lacuna {

void ComputeEnergy::list(EnergyNumbers& n) {
  n.energy("valu_int32", valu_int32, "Vector ALU, of a lane: 32-bit integer, logic, move, select", DataKind::alu);
  n.energy("valu_f16", valu_f16, "Vector ALU, of a lane: half precision", DataKind::alu);
  n.energy("valu_packed", valu_packed, "Vector ALU, of a lane: packed operation on two halves or two f32", DataKind::alu);
  n.energy("valu_f32", valu_f32, "Vector ALU, of a lane: f32 addition, multiplication, comparison, conversion", DataKind::alu);
  n.energy("valu_f32_fma", valu_f32_fma, "Vector ALU, of a lane: f32 multiply-add", DataKind::alu);
  n.energy("valu_f64", valu_f64, "Vector ALU, of a lane: f64 addition, multiplication, comparison, conversion", DataKind::alu);
  n.energy("valu_f64_fma", valu_f64_fma, "Vector ALU, of a lane: f64 multiply-add", DataKind::alu);
  n.energy("valu_mul32", valu_mul32, "Vector ALU, of a lane: 32-bit integer multiplication", DataKind::alu);
  n.energy("valu_transcendental", valu_transcendental, "Vector ALU, of a lane: reciprocal, root, sine, exponential",
           DataKind::alu);
  n.energy("valu_transcendental_f64", valu_transcendental_f64, "The same in f64", DataKind::alu);
  n.energy("valu_lane", valu_lane, "Vector ALU, of an instruction: v_readlane, v_readfirstlane, v_writelane");
  n.power("valu_static", valu_static, EnergyKind::leakage,
          "Of a lane of a vector ALU outside of compute units, such as at a last-level cache: leakage");
  n.energy("mfma_f64_pass", mfma_f64_pass, "Matrix unit: a pass of an f64 MFMA (four cycles, all lanes)", DataKind::alu);
  n.energy("mfma_f32_pass", mfma_f32_pass, "Matrix unit: a pass of an f32 MFMA", DataKind::alu);
  n.energy("mfma_narrow_pass", mfma_narrow_pass, "Matrix unit: a pass of an f16, bf16 or i8 MFMA", DataKind::alu);
  n.energy("salu", salu, "Scalar ALU: an instruction, branches included");
  n.energy("vgpr_read", vgpr_read, "VGPR or AGPR file, of a lane: 32 bits read", DataKind::arrays);
  n.energy("vgpr_write", vgpr_write, "VGPR or AGPR file, of a lane: 32 bits written", DataKind::arrays);
  n.power("vgpr_static", vgpr_static, EnergyKind::leakage, "Of the VGPR file of a SIMD: leakage");
  n.energy("sgpr_read", sgpr_read, "SGPR file: 32 bits read");
  n.energy("sgpr_write", sgpr_write, "SGPR file: 32 bits written");
  n.energy("decode", decode, "Of a wavefront's instruction: instruction buffer and decoding");
  n.energy("schedule", schedule, "Of a wavefront's instruction: dependencies, arbitration, control of the pipeline");
  n.energy("vmem_request", vmem_request, "Vector memory unit: addresses and data path of a line request");
  n.energy("lds_word", lds_word, "LDS, of a lane: 32 bits read or written, crossbar included", DataKind::arrays);
  n.energy("lds_conflict", lds_conflict, "LDS: a cycle that bank conflicts add");
  n.power("lds_static", lds_static, EnergyKind::leakage, "Of an LDS: leakage");
  n.energy("simd_cycle", simd_cycle, "Clock and pipeline registers of a SIMD: a cycle in which it executes");
  n.energy("matrix_cycle", matrix_cycle, "Clock and pipeline registers of a matrix unit: a cycle in which it executes");
  n.power("cu_static", cu_static, EnergyKind::leakage, "Of a compute unit: leakage, without VGPR files and LDS");
  n.power("cu_clock", cu_clock, EnergyKind::clock,
          "Of a compute unit: the clock tree, which is not gated while the unit idles");
}

ComputeEnergy ComputeEnergy::of(Bytes vgprs, Bytes lds, Frequency at) const {
  ComputeEnergy energy = *this;
  const auto registers = static_cast<double>(vgprs.n), words = static_cast<double>(lds.n);
  const auto reference = static_cast<double>(vgpr_reference.n), lds_size = static_cast<double>(lds_reference.n);
  energy.vgpr_read *= law.access(registers, reference);
  energy.vgpr_write *= law.access(registers, reference);
  energy.vgpr_static *= ArrayLaw::leakage(registers, reference);
  energy.lds_word *= law.access(words, lds_size);
  energy.lds_static *= ArrayLaw::leakage(words, lds_size);
  energy.cu_clock *= law.clocked(at);
  return energy;
}

void CacheEnergy::list(EnergyNumbers& n, const std::string& cache) {
  n.energy(cache + "_tag", tag, "Look-up of a sector in the tags of all ways");
  n.energy(cache + "_read", read, "A byte read from the data array: hits and write-backs", DataKind::arrays);
  n.energy(cache + "_write", write, "A byte written into the data array: fills and writes", DataKind::arrays);
  n.energy(cache + "_atomic", atomic, "An atomic operation on a sector, in addition to its read and write");
  n.power(cache + "_static", leakage, EnergyKind::leakage, "Of one cache or bank: leakage");
  n.power(cache + "_clock", clock, EnergyKind::clock, "Of one cache or bank: clock");
}

CacheEnergy CacheEnergy::of(Bytes size, Frequency at) const {
  CacheEnergy energy = *this;
  const double access = law.access(static_cast<double>(size.n), static_cast<double>(reference.n));
  energy.tag *= access;
  energy.read *= access;
  energy.write *= access;
  energy.leakage *= ArrayLaw::leakage(static_cast<double>(size.n), static_cast<double>(reference.n));
  energy.clock *= law.clocked(at);
  return energy;
}

void TlbEnergy::list(EnergyNumbers& n, const std::string& tlb) {
  n.energy(tlb + "_lookup", lookup, "A translation looked up");
  n.power(tlb + "_static", leakage, EnergyKind::leakage, "Of one TLB: leakage");
  n.power(tlb + "_clock", clock, EnergyKind::clock, "Of one TLB: clock");
}

TlbEnergy TlbEnergy::of(unsigned entries, Frequency at) const {
  TlbEnergy energy = *this;
  energy.lookup *= law.access(entries, reference);
  energy.leakage *= ArrayLaw::leakage(entries, reference);
  energy.clock *= law.clocked(at);
  return energy;
}

NocEnergy NocEnergy::of(Frequency at) const {
  NocEnergy energy = *this;
  energy.clock *= law.clocked(at);
  return energy;
}

EnergyNumbers EnergyParameters::numbers() {
  EnergyNumbers n;
  compute.list(n);
  list_memory(n);
  n.energy("cp_dispatch", cp_dispatch, "Command processor: a dispatch, from packet to completion signal");
  n.energy("cp_workgroup", cp_workgroup, "Dispatcher: launch and end of a workgroup");
  n.power("cp_static", cp_static, EnergyKind::leakage, "Command processor, dispatcher and SDMA engines: leakage");
  n.power("cp_clock", cp_clock, EnergyKind::clock, "Command processor, dispatcher and SDMA engines: clocks");
  n.outside("host_link_byte", host_link.byte, "A byte over the link to the host, in either direction");
  n.power("host_link_static", host_link.link_static, EnergyKind::constant, "The link to the host: PHY and controller");
  n.power("board_static", board_static, EnergyKind::constant,
          "All that is not modelled: display interfaces, losses of voltage regulators, fan");
  return n;
}

void EnergyParameters::list_memory(EnergyNumbers& n) {
  l1v.list(n, "l1v");
  l1s.list(n, "l1s");
  l1i.list(n, "l1i");
  l2.list(n, "l2");
  l1z.list(n, "l1z");
  l2z.list(n, "l2z");
  l1_tlb.list(n, "l1_tlb");
  l2_tlb.list(n, "l2_tlb");
  n.energy("page_walk", page_walk, "A walk of the page table, whose memory accesses are not modelled individually");
  n.energy("noc_router", noc.router, "A byte of a flit's width through a switch", DataKind::links);
  n.energy("noc_link", noc.link, "A byte of a flit's width over a link (crossbar: over its wires)", DataKind::links);
  n.power("noc_static", noc.leakage, EnergyKind::leakage, "The whole network: leakage");
  n.power("noc_clock", noc.clock, EnergyKind::clock, "The whole network: clock");
  n.outside("dram_activate", dram.activate, "A row activated and precharged");
  n.outside("dram_read", dram.read, "A byte read, from the row buffer to the DRAM's pins", DataKind::dram);
  n.outside("dram_write", dram.write, "A byte written, from the DRAM's pins to the row buffer", DataKind::dram);
  n.outside("dram_io", dram.io, "A byte between the pins of DRAM and GPU, both ends included", DataKind::dram);
  n.outside("dram_refresh", dram.refresh, "A refresh of all banks of a pseudo channel, every tREFI");
  n.power("dram_background", dram.background, EnergyKind::constant, "Of one channel: the DRAM's background power");
  n.energy("mc_request", dram.controller_request, "Memory controller: a request of a channel");
  n.power("mc_static", dram.controller_static, EnergyKind::constant,
          "Of one channel: the memory controller and the GPU's PHY while they wait");
  n.energy("sida_buffer_read", sida.buffer_read, "Sparse dataflow accelerator: a byte from its buffer to a core or to memory",
           DataKind::arrays);
  n.energy("sida_buffer_write", sida.buffer_write,
           "Sparse dataflow accelerator: a byte from a core or from memory into its buffer", DataKind::arrays);
}

EnergyParameters EnergyParameters::at_operating_point() const {
  EnergyParameters energies = *this;
  const double leakage = voltage / reference_voltage;
  const double dynamic = leakage * leakage;
  const auto data = [this](DataKind kind) {
    if (toggles == ToggleSource::measured) return 1.0;  // EnergyMeter::measure() applies the factor
    switch (kind) {
      case DataKind::alu:
        return alu.factor();
      case DataKind::arrays:
        return arrays.factor();
      case DataKind::links:
        return links.factor();
      case DataKind::dram:
        return dram_data.factor();
      case DataKind::none:
        break;
    }
    return 1.0;
  };
  const EnergyNumbers all = energies.numbers();
  for (const EnergyNumber& number : all.list()) {
    const double supply = number.kind == EnergyKind::constant ? 1 : number.kind == EnergyKind::leakage ? leakage : dynamic;
    *number.value *= supply * data(number.data);
  }
  const ArrayLaw law{sram_exponent, reference_clock};
  energies.compute.law = law;
  energies.noc.law = law;
  for (CacheEnergy* cache : {&energies.l1v, &energies.l1s, &energies.l1i, &energies.l2, &energies.l1z, &energies.l2z})
    cache->law = law;
  for (TlbEnergy* tlb : {&energies.l1_tlb, &energies.l2_tlb}) tlb->law = law;
  return energies;
}

EnergyParameters EnergyParameters::bound(EnergyBound end) const {
  EnergyParameters energies = *this;
  const std::vector<std::string> of_measured = names_in(measured), of_published = names_in(published);
  const auto in = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const EnergyNumbers all = energies.numbers();
  for (const EnergyNumber& number : all.list()) {
    const double spread = in(of_measured, number.name)    ? spread_measured
                          : in(of_published, number.name) ? spread_published
                                                          : spread_estimated;
    *number.value *= end == EnergyBound::low ? 1 / spread : spread;
  }
  return energies;
}

}  // namespace lacuna
