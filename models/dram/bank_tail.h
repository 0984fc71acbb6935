// Forecast state of a DRAM bank after its waiting reads: rows that are or will be open, and the earliest cycles of further
// commands. The forecast considers the timing of the bank only, and assumes that rows are served in the order of their first
// reads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/dram/dram_parameters.h"

namespace lacuna {

/// Timing parameters of a bank, in cycles.
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

  std::uint64_t ahead;  ///< cycles from an activate's first cycle to its last
  std::uint64_t gap;    ///< cycles between two column commands
  std::uint64_t tRCD;
  std::uint64_t tRTP;
  std::uint64_t tRP;
  std::uint64_t tRC;
  std::uint64_t tRAS;
  bool closes;  ///< the row is closed after each access
};

struct BankTail {
  using Cycle = std::uint64_t;
  static constexpr Cycle kNever = ~Cycle{0};

  /// A row that is or will be open: the earliest column command of a further read, and the cycle in which the row is closed.
  struct Opening {
    std::uint64_t row = 0;
    Cycle column = 0;
    Cycle closed = kNever;
  };
  static constexpr unsigned kOpenings = 4;

  bool known = false;
  unsigned count = 0;
  Cycle at = 0;         ///< arrival of the last read
  Cycle activate = 0;   ///< earliest last cycle of an activate of another row
  Cycle precharge = 0;  ///< earliest precharge of the last row
  std::array<Opening, kOpenings> openings{};

  /// The opening of `row` that a read which arrives at `when` can use, or nullptr.
  Opening* find(std::uint64_t row, Cycle when) {
    for (unsigned i = count; i-- > 0;) {
      if (openings[i].row == row) return when < openings[i].closed ? &openings[i] : nullptr;
    }
    return nullptr;
  }

  /// Appends a read of `row` that arrives at `arrival`.
  void extend(const BankTailTiming& t, std::uint64_t row, Cycle arrival) {
    at = arrival;
    if (count != 0 && !t.closes) [[likely]] {
      Opening& last = openings[count - 1];
      if (last.row == row) {  // the last opening has no end, because no other row follows
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
