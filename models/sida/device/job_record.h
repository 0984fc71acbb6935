// Record of a job that has ended, for observers.
#pragma once

#include <cstdint>

#include "models/command/packet_engine.h"
#include "models/common/time/units.h"
#include "models/sida/pipeline/pass_counts.h"

namespace lacuna {

enum class SidaJobEnd : std::uint8_t {
  done,
  failed,  ///< ended by an error of its program
  dropped  ///< dropped with its queue
};

/// A job that has ended.
struct SidaJobRecord {
  std::uint64_t number = 0;  ///< sequence number, in order of start
  EnginePacket packet{};
  std::uint64_t program = 0;  ///< GPU address
  SidaJobEnd end = SidaJobEnd::done;
  std::uint32_t error = 0;  ///< LACUNA_SIDA_ERROR_...
  Tick began{}, ended{};
  std::uint64_t iterations = 0, passes = 0, passes_in_bulk = 0;
  sida::PassCounts sums{};  ///< sums over the job's passes
};

}  // namespace lacuna
