// A picture of one pass of the sparse dataflow accelerator over time: activity of each core, memory traffic, contents of the
// buffer.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "models/sida/pipeline/pass_counts.h"

namespace lacuna {

/// Writes the picture as SVG; writes nothing if there are no steps. Steps are drawn to scale; short steps share a bar.
/// `bytes_per_cycle`: bandwidth of memory; `buffer_bytes`: capacity of the buffer.
void write_pass_timeline(const std::vector<sida::StepTrace>& steps, std::uint64_t bytes_per_cycle, std::uint64_t buffer_bytes,
                         const std::string& title, std::ostream& out);

}  // namespace lacuna
