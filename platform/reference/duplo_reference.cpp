#include "platform/reference/duplo_reference.h"

#include <fmt/format.h>

#include <ostream>

#include "models/duplo/duplo_hardware.h"
#include "models/duplo/duplo_texts.h"
#include "platform/reference/extension_reference.h"

namespace lacuna {

void write_duplo_reference(std::ostream& out) {
  constexpr ExtensionPage kPage{.machine = kDuploTexts,
                                .title = "Duplo",
                                .guide = "[Duplo](../guide/duplo.md)",
                                .counts_file = "models/duplo/duplo_texts.h",
                                .cost_file = "models/duplo/duplo_hardware.h",
                                .cost_explanation = "The paper's count, and the reason for its different share"};
  write_extension_counts(kPage, out);
  // The paper's machine, Table III: configs/titanv-like.cfg.
  constexpr unsigned kUnits = 80;
  ComputeUnitParameters unit;
  unit.simds = 4;
  unit.wavefronts_per_simd = 8;
  unit.vgprs_per_simd = 256;
  write_extension_hardware(
      kPage, fmt::format("Cost of Duplo with its default parameters in {} compute units like those of `titanv-like`", kUnits),
      cost_lines(duplo_hardware({}, unit), kUnits), out);
}

}  // namespace lacuna
