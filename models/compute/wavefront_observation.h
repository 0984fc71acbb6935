// Observation of a wavefront's future behaviour: its next instructions are executed on a copy of its registers and of the
// workgroup's LDS, and on copies of the memory pages that they access. The run is not affected.
//
// The observation distinguishes loops that cannot end from loops that make progress. If registers, LDS and memory return to an
// earlier state, the wavefront repeats the instructions since then forever, unless another agent writes an address that it
// reads. A loop that changes registers, such as a counter of its iterations, is identified by the program counters of the
// second half of the observation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/isa/decode/decoded_code.h"
#include "models/isa/wavefront.h"

namespace lacuna {

struct WavefrontObservation {
  enum class End : std::uint8_t {
    repeats,      ///< registers, LDS and memory are the same as `period` instructions earlier
    limit,        ///< the limit of instructions, or of copied pages, is reached
    barrier,      ///< s_barrier
    wave_sync,    ///< ds_gws_*
    end_program,  ///< s_endpgm
    stopped,      ///< a fault, a trap, or code that cannot be fetched
  };
  /// Bytes of memory, or of the workgroup's LDS.
  struct Range {
    bool lds = false;
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    bool operator==(const Range&) const = default;
    bool overlaps(const Range& other) const {
      return lds == other.lds && address < other.address + other.bytes && other.address < address + bytes;
    }
  };
  /// A memory-reading instruction of the loop.
  struct Read {
    std::uint64_t pc = 0;
    bool atomic = false;
    bool moves = false;         ///< whether the instruction reads different addresses in different iterations
    unsigned lane = 0;          ///< lane that reads ranges[0]; 0 for scalar instructions
    std::uint64_t value = 0;    ///< first 8 bytes of ranges[0]
    std::vector<Range> ranges;  ///< ranges that the lanes read, without duplicates
  };

  End end = End::limit;
  std::uint64_t instructions = 0;  ///< number of instructions executed
  std::uint64_t period = 0;        ///< number of repeated instructions, if the end is End::repeats
  // The loop consists of the repeated instructions or, without repetition, of the second half of the executed instructions.
  std::uint64_t first_pc = 0;  ///< lowest address of an instruction of the loop
  std::uint64_t last_pc = 0;   ///< highest address of an instruction of the loop
  std::uint64_t lanes = 0;     ///< lanes of EXEC that were active in the loop
  bool changes = false;        ///< whether the loop has changed memory or LDS
  std::vector<Read> reads;     ///< reading instructions of the loop
  bool more_reads = false;     ///< whether the loop has more than kMostReads reading instructions
  /// Ranges changed since the start of the observation; storing the value that memory already holds is not a change.
  std::vector<Range> writes;
  bool more_writes = false;  ///< whether more than kMostWrites ranges have been changed

  static constexpr std::size_t kMostReads = 8;
  static constexpr std::size_t kMostWrites = 4096;

  /// Whether the loop polls: its state repeats, or it is short, changes no memory and always reads the same few addresses.
  bool spins() const;
  /// Whether one of the changed ranges overlaps `range`.
  bool writes_to(const Range& range) const;
};

/// Observes at most `limit` instructions from `pc` on, and one more period if they repeat. `wave` is not changed. Call it
/// between windows, when no compute unit runs.
WavefrontObservation observe_wavefront(const isa::Wavefront& wave, std::uint64_t pc, isa::DecodedCode& code, unsigned limit);

}  // namespace lacuna
