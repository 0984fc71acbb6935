#include "platform/reference/lazy_reference.h"

#include <fmt/format.h>

#include <ostream>

#include "models/gpu/gpu_parameters.h"
#include "models/lazy/held_load.h"
#include "models/lazy/lazy_texts.h"
#include "platform/reference/extension_reference.h"

namespace lacuna {

void write_lazy_reference(std::ostream& out) {
  constexpr ExtensionPage kPage{.machine = kLazyTexts,
                                .title = "Lazy cores",
                                .guide = "[LazyGPU](../guide/lazygpu.md)",
                                .counts_file = "models/lazy/lazy_texts.h",
                                .cost_file = "models/lazy/held_load.h",
                                .cost_explanation = "Where the area is from, and why it is not the published one"};
  write_extension_counts(kPage, out);
  out << "\n## Loads that are issued immediately\n"
         "`eager_REASON` of each compute unit's `lazy` group in `statistics.json`; the first reason of the list counts.\n\n"
         "| reason | the load |\n|---|---|\n";
  for (const auto& [name, meaning] : held_load::kRefusalTexts) out << fmt::format("| `{}` | {} |\n", name, meaning);
  const GpuDeviceParameters defaults;
  const unsigned units = defaults.gpu.shader_arrays * defaults.gpu.cus_per_shader_array;
  write_extension_hardware(
      kPage,
      fmt::format("Cost of holding loads with the default configuration, {} compute units of {} x {} registers", units,
                  defaults.cu.simds, defaults.cu.vgprs_per_simd),
      held_load::lines(held_load::cost(defaults.cu, units)), out);
}

}  // namespace lacuna
