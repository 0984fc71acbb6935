// What reads find in a DRAM bank behind those that wait there: which rows are or will be open, and from when on what can be
// done. It assumes that the bank's own times are all that counts and that rows are served in the order of their first read.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/dram/dram_parameters.h"

namespace lacuna {

/// The parameters that a tail needs, in cycles.
struct BankTailTiming {
  explicit BankTailTiming(const DramParameters& p)
      : ahead(p.activate_cycles.n - 1),
        gap(std::max(p.burst.n, p.tCCDL.n)),
        tRCD(p.tRCDRD.n),
        tRTP(p.tRTP.n),
        tRP(p.tRP.n),
        tRC(p.tRC.n),
        tRAS(p.tRAS.n),
        closes(p.page_policy == DramPagePolicy::closed) {}

  std::uint64_t ahead;  ///< from an activate's first cycle to its last
  std::uint64_t gap;    ///< between column commands
  std::uint64_t tRCD;
  std::uint64_t tRTP;
  std::uint64_t tRP;
  std::uint64_t tRC;
  std::uint64_t tRAS;
  bool closes;  ///< a row after each access
};

struct BankTail {
  using Cycle = std::uint64_t;
  static constexpr Cycle kNever = ~Cycle{0};

  /// A row that is or will be open: the earliest column command of another read, and when it is closed.
  struct Opening {
    std::uint64_t row = 0;
    Cycle column = 0;
    Cycle closed = kNever;
  };
  static constexpr unsigned kOpenings = 4;

  bool known = false;
  unsigned count = 0;
  Cycle at = 0;         ///< the arrival of the last read
  Cycle activate = 0;   ///< the earliest of the next row; the command's last cycle counts
  Cycle precharge = 0;  ///< the earliest of the last row
  std::array<Opening, kOpenings> openings{};

  /// The opening that a read finds, or nullptr.
  Opening* find(std::uint64_t row, Cycle when) {
    for (unsigned i = count; i-- > 0;) {
      if (openings[i].row == row) return when < openings[i].closed ? &openings[i] : nullptr;
    }
    return nullptr;
  }

  /// One more read, of this row and arrival.
  void extend(const BankTailTiming& t, std::uint64_t row, Cycle arrival) {
    at = arrival;
    if (count != 0 && !t.closes) [[likely]] {
      Opening& last = openings[count - 1];
      if (last.row == row) {  // which is not closed: there is none behind it
        const Cycle column = std::max(last.column, arrival);
        last.column = column + t.gap;
        precharge = std::max(precharge, column + t.tRTP);
        return;
      }
    }
    extend_other(t, row, arrival);
  }

 private:
  void extend_other(const BankTailTiming& t, std::uint64_t row, Cycle arrival);
};

}  // namespace lacuna
