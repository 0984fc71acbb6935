// Parameters of opportunistic near-data computing (Pattnaik et al., "Opportunistic Computing in GPU Architectures", ISCA '19).
// Section numbers are the paper's.
//
// No parameter affects the results of a program.
#pragma once

#include <cstdint>

#include "models/common/config/parameters.h"
#include "models/common/time/units.h"

namespace lacuna {

/// Nodes of the network at which chains can be computed.
enum class NearDataMode : std::uint8_t {
  none,  ///< no node: the baseline
  llc,   ///< LLC-Compute: the nodes of the last-level caches
  omni,  ///< Omni-Compute: the nodes of the last-level caches, and of the cores or a butterfly's last switches
};

/// ALU that serves the service queue of a core (section 6.3).
enum class CoreAlu : std::uint8_t {
  shared,     ///< the core's ALU, in the cycles that the core leaves idle
  dedicated,  ///< a separate ALU of ndc.core_alu_lanes lanes
};

/// Treatment of loads whose line is being filled into the L1 cache.
enum class PendingFill : std::uint8_t { hit, miss };

/// Event that completes a storing chain for its core.
enum class ChainEnd : std::uint8_t {
  store,        ///< acknowledgement of the chain's store (Fig. 3)
  computation,  ///< end of the chain's computation (section 4.2)
};

struct NearDataParameters {
  NearDataMode mode = NearDataMode::none;
  bool move = true;
  bool take_apart = false;
  bool interleaved = false;
  unsigned oq_entries = 48;
  unsigned builders = 1;
  PendingFill pending_fill = PendingFill::hit;
  bool store_counts = true;
  unsigned sq_entries = 96;
  unsigned sq_buffer = 4;
  Cycles fetch_latency{4};
  unsigned llc_alu_lanes = 32;
  CoreAlu core_alu = CoreAlu::shared;
  unsigned core_alu_lanes = 32;
  Cycles alu_latency{4};
  ChainEnd chain_end = ChainEnd::store;
  bool check = false;

  void describe(ParameterSection& s);
};

}  // namespace lacuna
