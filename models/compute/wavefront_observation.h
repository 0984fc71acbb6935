// What a wavefront would do next if nothing else changed: its next instructions are executed on a copy of its registers and of
// the workgroup's LDS, and on copies of the memory pages that they touch. Nothing of it is kept: the run stays as it was.
//
// It tells a loop that cannot end from one that gets on. When registers, LDS and memory are the same twice, the wavefront
// repeats what lies between for ever, unless something else writes a place that it reads. A loop that changes its registers,
// such as one that counts its rounds, is seen as the program counters of the second half of the observation.
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
    repeats,      ///< registers, LDS and memory are those of `period` instructions before
    limit,        ///< as many instructions as were allowed
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
  /// An instruction of the loop that reads.
  struct Read {
    std::uint64_t pc = 0;
    bool atomic = false;
    bool moves = false;         ///< it has read other places in other rounds
    unsigned lane = 0;          ///< whose place is ranges[0]; of scalar instructions 0
    std::uint64_t value = 0;    ///< of ranges[0], its first 8 bytes
    std::vector<Range> ranges;  ///< of its lanes, each place once
  };

  End end = End::limit;
  std::uint64_t instructions = 0;  ///< executed in all
  std::uint64_t period = 0;        ///< of `repeats`, instructions
  // Of the loop: the repeated instructions, or else the second half of those executed.
  std::uint64_t first_pc = 0;  ///< lowest and
  std::uint64_t last_pc = 0;   ///< highest address of an instruction
  std::uint64_t lanes = 0;     ///< of EXEC, all that were active in it
  bool changes = false;        ///< it has changed memory or LDS
  std::vector<Read> reads;
  bool more_reads = false;  ///< than kMostReads instructions
  /// What it has changed, from the beginning on; a store of the value that was there changes nothing.
  std::vector<Range> writes;
  bool more_writes = false;  ///< than kMostWrites

  static constexpr std::size_t kMostReads = 8;
  static constexpr std::size_t kMostWrites = 4096;

  /// Stays within a few instructions and reads no more than a few places, always the same.
  bool spins() const;
  /// Some of its stores overlap `range`.
  bool writes_to(const Range& range) const;
};

/// Executes no more than `limit` instructions from `pc` on. `wave` is not changed. Between windows of the simulation, when no
/// compute unit is at work.
WavefrontObservation observe_wavefront(const isa::Wavefront& wave, std::uint64_t pc, isa::DecodedCode& code, unsigned limit);

}  // namespace lacuna
