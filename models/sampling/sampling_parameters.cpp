#include "models/sampling/sampling_parameters.h"

namespace lacuna {

void SamplingParameters::describe(ParameterSection& s) {
  constexpr std::string_view kChoice = "choice, docs/guide/sampling.md";
  s.add("error", error,
        "Wanted half-width of the 95 % confidence interval of a kernel's time, as a share of the time: sampled parts become "
        "longer only while the interval is narrower",
        {.range = {0.001, 0.5}, .source = kChoice});
  s.add("most_timed", most_timed,
        "Largest share of a kernel's instructions that is timed in detail once one sample has been taken; a kernel that would "
        "need more has a wider interval",
        {.range = {0.001, 1}, .source = kChoice});
  s.add("shortest", shortest,
        "Time from the begin of a kernel until a part of it may run without timing: shorter kernels are timed whole",
        {.range = {0, 1e9}, .source = kChoice});
  s.add("slice", slice, "Shortest interval in which instructions are counted while a kernel is timed",
        {.range = {64, 1e6}, .source = kChoice});
  s.add("slice_work", slice_work, "Instructions that a wavefront executes in a slice, in the mean of all, at least",
        {.range = {1, 1e6}, .unit = "wavefront instructions", .source = kChoice});
  s.add("slices", slices, "Slices of a sample. A sample is taken when their rate does not drift",
        {.range = {4, 64}, .unit = "slices", .source = kChoice});
  s.add("settle", settle, "Time between the start of a kernel, or the end of an untimed part, and the next sample, at least",
        {.range = {0, 1e6}, .source = kChoice});
  s.add("settle_work", settle_work, "Instructions that a wavefront executes in that time, in the mean of all, at least",
        {.range = {0, 1e6}, .unit = "wavefront instructions", .source = kChoice});
  s.add("across_kernels", across_kernels,
        "Whether a kernel is executed without timing if enough launches of the same kernel with the same grid, after the same "
        "kernel, have been timed",
        {.source = kChoice});
  s.add(
      "within_workgroups", within_workgroups,
      "Whether parts of long wavefronts run without timing in kernels with few workgroups. Less accurate: errors of 5 % occur",
      {.source = kChoice});
  s.add("untimed", untimed, "What happens to the parts of a kernel that are not timed",
        {{"executed", static_cast<int>(UntimedParts::executed)}, {"skipped", static_cast<int>(UntimedParts::skipped)}},
        {.source = kChoice});
}

}  // namespace lacuna
