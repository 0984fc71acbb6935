// Records of jobs and passes that have ended, for observers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/command/packet_engine.h"
#include "models/common/time/units.h"
#include "models/sida/pipeline/pass_counts.h"

namespace lacuna {

enum class SidaJobEnd : std::uint8_t {
  done,
  failed,  ///< ended by an error of its program
  dropped  ///< dropped with its queue
};

/// An array of a job's program in memory, or a part of one whose bus addresses are contiguous.
struct SidaJobArray {
  std::string name;               ///< such as "matrix0.by_columns.offsets", "vector3" or "program"
  std::uint64_t address = 0;      ///< GPU virtual address
  std::uint64_t bus_address = 0;  ///< of the same byte
  std::uint64_t bytes = 0;
};

/// A pass that has ended.
struct SidaPassRecord {
  std::uint64_t job = 0;        ///< number of its job
  std::uint64_t pass = 0;       ///< number in the program
  std::uint64_t iteration = 0;  ///< iterations completed before the pass
  std::uint64_t products = 0;   ///< products that were executed
  bool in_bulk = false;         ///< whether it took the time and the requests of an earlier one
  sida::PassCounts counts{};
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
  sida::PassCounts sums{};             ///< sums over the job's passes
  std::vector<SidaJobArray> arrays{};  ///< their addresses when the job began (job_arrays.h); empty if its program is not valid
};

}  // namespace lacuna
