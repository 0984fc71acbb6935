// A picture of one pass of the sparse dataflow accelerator over time: what each core works on, what memory carries, what the
// buffer holds.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "models/sida/pipeline/pass_counts.h"

namespace lacuna {

/// SVG. Steps are drawn to scale; short ones share a bar. `bytes_per_cycle`: of memory; `buffer_bytes`: capacity.
void write_pass_timeline(const std::vector<sida::StepTrace>& steps, std::uint64_t bytes_per_cycle, std::uint64_t buffer_bytes,
                         const std::string& title, std::ostream& out);

}  // namespace lacuna
