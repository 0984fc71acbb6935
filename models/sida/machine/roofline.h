// Analytical models of two machines with the accelerator's bandwidth and PEs.
//
// Roofline: every operator of the graph takes max(bytes / bandwidth, operations / PEs); its inputs are read and its outputs
// written each time. Operators are those of ALP/GraphBLAS (thesis, Fig. 4.2):
//   product          matrix, x, and y twice: set to the identity, then written
//   eWiseApply two vectors or more, and the result twice, as it is set first
//   foldl            one vector and scalars: read and written
//   reduction        vectors of the reduction and of element-wise operations used only by it
// Oracle: a pass takes max(bytes / bandwidth, operations of each core / PEs); its matrix is read once for both products, and a
// vector is transferred each time the code loads or stores it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libraries/sida/graph.h"
#include "models/sida/function/job.h"
#include "models/sida/machine/energy_counts.h"
#include "models/sida/program/program.h"

namespace lacuna::sida {

struct Work {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t operations = 0;  ///< number of operations of the busiest core
  EnergyCounts energy{};

  double cycles(std::uint64_t bytes_per_cycle, unsigned pes) const;
};

/// Operators of one iteration. `matrices`: the matrices of the graph, in the graph's order.
std::vector<Work> operators_of(const lacuna_sida_graph& graph, const std::vector<lacuna_sida_matrix>& matrices);

/// Work of a pass on the oracle.
Work oracle_work(const Program& program, const Pass& pass, const PassOutcome& outcome);

}  // namespace lacuna::sida
