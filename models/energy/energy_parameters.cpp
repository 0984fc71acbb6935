#include "models/energy/energy_parameters.h"

#include <fmt/format.h>

#include <algorithm>

namespace lacuna {
namespace {

// Far more than any event or block of a GPU consumes: a larger value indicates a wrong unit.
constexpr double kMostPicojoules = 1e6;
constexpr double kMostWatts = 1e3;

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
  describe_operating_point(section);
  describe_uncertainty(section);
  describe_references(section);
  const EnergyNumbers all = numbers();
  for (const EnergyNumber& number : all.list()) {
    const double most = number.unit == "W" ? kMostWatts : kMostPicojoules;
    section.add(number.name, *number.value, number.description, {.range = {0, most}, .unit = number.unit});
  }
  describe_matrix(section);
  section.renamed("issue", "decode");
}

void EnergyParameters::describe_operating_point(ParameterSection& section) {
  const ParameterTraits volts{.range = {0.1, 5}, .unit = "V"};
  section.add(
      "voltage", voltage,
      "Voltage of the GPU's core: its energies and the power of its clock trees are in proportion to the square, its leakage "
      "to the voltage",
      {.range = {0.1, 5}, .unit = "V", .source = "form of total power: Kandiah et al., AccelWattch, MICRO 2021"});
  section.add("reference_voltage", reference_voltage, "Voltage that the energies and powers below are of", volts);
  section.add("reference_clock", reference_clock,
              "Clock that the powers of clock trees (_clock) are of: at another clock of the block they are in proportion",
              {.range = {1e6, 1e12}});
  section.add("sram_exponent", sram_exponent,
              "Energy of an access to an array of another size than its _reference: in proportion to this power of the size. "
              "The leakage is in proportion to the size",
              {.range = {0, 2}});
  section.add(
      "toggles", toggles, "Switching of data",
      {{"configured", static_cast<int>(ToggleSource::configured), "toggles_alu, toggles_arrays, toggles_links, toggles_dram"},
       {"measured", static_cast<int>(ToggleSource::measured),
        "samples of the registers that vector instructions read (ALUs, arrays) and of the data of vector memory instructions "
        "(links, DRAM)"}});
  const struct {
    const char* name;
    DataEnergy& data;
    const char* what;
  } kinds[] = {{"alu", alu, "operations of vector ALUs and matrix units"},
               {"arrays", arrays, "data of register files, LDS and caches"},
               {"links", links, "routers and links of the network"},
               {"dram", dram_data, "reads, writes and interface of DRAM"}};
  for (const auto& kind : kinds) {
    section.add(
        fmt::format("toggles_{}", kind.name), kind.data.toggles,
        fmt::format("Bits that change in {}, relative to random data: 0 for constant data, 2 if every bit changes", kind.what),
        {.range = {0, 2}});
    section.add(fmt::format("data_share_{}", kind.name), kind.data.share,
                fmt::format("Share of the energy of {} that changing bits cause, with random data", kind.what),
                {.range = {0, 1}});
  }
}

void EnergyParameters::describe_uncertainty(ParameterSection& section) {
  const auto spread = [&section](const char* name, double& member, const char* what, const char* source) {
    section.add(name, member,
                fmt::format("Uncertainty of {}: the low value is the number divided by this, the high value the number "
                            "multiplied by it",
                            what),
                {.range = {1, 100}, .source = source});
  };
  section.add("measured", measured, "Names of the energies and powers below that were measured on such a machine");
  section.add("published", published,
              "Names of those that are published for the process or for another machine; all others are estimates");
  spread("spread_measured", spread_measured, "measured numbers",
         "Tran et al., Wattchmen, ICS 2026: 14 % mean error of energies by instruction that were measured on the same GPU");
  spread("spread_published", spread_published, "published numbers",
         "publications of the same thing: f64 multiply-add at 28 nm, 20 pJ (Dally, 2011) to 40 pJ (BMC Bioinformatics 19)");
  spread("spread_estimated", spread_estimated, "estimates", "choice");
}

void EnergyParameters::describe_references(ParameterSection& section) {
  const auto size = [&section](const char* name, Bytes& member, const char* what) {
    section.add(fmt::format("{}_reference", name), member,
                fmt::format("Size of {} that the energies below are of; 0: of any size", what), {.range = {0, 1e12}});
  };
  size("vgpr", compute.vgpr_reference, "the VGPR file of a SIMD");
  size("lds", compute.lds_reference, "the LDS");
  size("l1v", l1v.reference, "an L1 vector cache");
  size("l1s", l1s.reference, "an L1 scalar cache");
  size("l1i", l1i.reference, "an L1 instruction cache");
  size("l2", l2.reference, "a bank of L2");
  size("l1z", l1z.reference, "an L1 cache of masks");
  size("l2z", l2z.reference, "a bank of the L2 cache of masks");
  const auto entries = [&section](const char* name, unsigned& member) {
    section.add(fmt::format("{}_reference", name), member, "Entries of the TLB that the energies below are of; 0: of any",
                {.range = {0, 1e9}, .unit = "entries"});
  };
  entries("l1_tlb", l1_tlb.reference);
  entries("l2_tlb", l2_tlb.reference);
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

std::vector<std::string> EnergyParameters::check() const {
  if (!on()) return {};
  std::vector<std::string> problems;
  EnergyParameters copy = *this;
  const EnergyNumbers all = copy.numbers();
  // Any single energy or power above 0 suffices: one block may be modelled alone.
  if (std::all_of(all.list().begin(), all.list().end(), [](const EnergyNumber& number) { return *number.value == 0; }))
    problems.emplace_back("energy.model = on, but no energies are given: --config energy/r9nano has some");
  for (const auto& [parameter, names] : {std::pair{"measured", &measured}, std::pair{"published", &published}}) {
    for (const std::string& name : names_in(*names)) {
      if (std::none_of(all.list().begin(), all.list().end(), [&](const EnergyNumber& number) { return number.name == name; }))
        problems.push_back(fmt::format("energy.{}: there is no energy or power \"{}\"", parameter, name));
    }
  }
  return problems;
}

}  // namespace lacuna
