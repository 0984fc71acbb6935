#include "models/lazy/lazy_parameters.h"

namespace lacuna {

void LazyParameters::describe(ParameterSection& s) {
  s.add("mode", mode, "Which parts of LazyGPU there are; eager: none, lazy_zero_otimes: all",
        {{"eager", static_cast<int>(LazyMode::eager)},
         {"eager_zero", static_cast<int>(LazyMode::eager_zero)},
         {"lazy", static_cast<int>(LazyMode::lazy)},
         {"lazy_zero", static_cast<int>(LazyMode::lazy_zero)},
         {"lazy_zero_otimes", static_cast<int>(LazyMode::lazy_zero_otimes)}},
        {.source = "LazyGPU (ISCA '25), sections 4.1 to 4.3 and 5.2"});
  s.add("first_use", first_use,
        "Which held loads leave when an instruction finds a register busy: those that it needs, or all of its wavefront",
        {{"needed", static_cast<int>(FirstUse::needed)}, {"all", static_cast<int>(FirstUse::all)}},
        {.source = "LazyGPU (ISCA '25), section 4.1: needed"});
  s.add("address_unit", address_unit,
        "How often a held load occupies the compute unit's address unit: when it is held alone, or again when its requests are "
        "sent, and with its zero reads",
        {{"once", static_cast<int>(AddressUnit::once)}, {"twice", static_cast<int>(AddressUnit::twice)}},
        {.source = "LazyGPU (ISCA '25), section 4 and Fig. 5: once"});
  s.add("issue_latency", issue_latency,
        "Cycles from the instruction that needs a held load to the load's first request, which leaves no earlier than that of "
        "an eager load would have; address_unit = twice: cu.vmem_address_latency instead",
        {.range = {1, 1024},
         .source = "MGPUSim v3.0.3: reorder buffer, address translator, TLB, address translator and L1, a cycle each"});
  s.add("otimes_ieee", otimes_ieee,
        "Whether the other operand of a multiplication by zero is loaded where IEEE 754 requires its value: NaN, infinity, the "
        "sign of a zero result",
        {{"strict", static_cast<int>(isa::OtimesIeee::strict)}, {"paper", static_cast<int>(isa::OtimesIeee::paper)}},
        {.source = "LazyGPU (ISCA '25), section 4.3, does not mention it"});
  s.add("mask_bits", mask_bits, "Bits of memory that one bit of a zero cache represents",
        {.range = {32, 128}, .power_of_two = true, .unit = "bits", .source = "LazyGPU (ISCA '25), section 4.2: M"});
  s.add(
      "masks", masks,
      "Writers that update masks: all writers of GPU memory, which is known to be zero initially; or stores of wavefronts only",
      {{"all", static_cast<int>(MaskWriters::all)}, {"stores", static_cast<int>(MaskWriters::stores)}},
      {.source = "choice, docs/deviations/lazygpu.md"});
  s.add("ports", ports,
        "Crossbar: whether zero caches have ports of their own or share those of their L1 vector cache and L2 bank, as they do "
        "at other networks",
        {{"own", static_cast<int>(ZeroPorts::own)}, {"shared", static_cast<int>(ZeroPorts::shared)}},
        {.source = "choice, docs/deviations/lazygpu.md"});
  s.add("check", check,
        "Check held loads: when the requests leave, compare memory with the values that the load read at its issue; count and "
        "report lanes that differ",
        {.source = "choice"});
}

}  // namespace lacuna
