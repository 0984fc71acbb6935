// Issue-relevant state of a SIMD's wavefronts, packed so that the issue loop touches few cache lines.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "models/common/time/units.h"
#include "models/isa/decode/instruction.h"

namespace lacuna {

/// A cycle later than all others. The value is the largest signed number, since the host's vector comparisons are signed.
inline constexpr Cycles kNeverCycles{~std::uint64_t{0} >> 1};

struct WavefrontSlot;

#if defined(__AVX2__)
namespace detail {
inline __m256i four(const Cycles* first) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(first)); }
inline __m256i lesser(__m256i a, __m256i b) { return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b)); }
inline Cycles least_of_four(__m256i least) {
  least = lesser(least, _mm256_permute4x64_epi64(least, 0x4e));  // compares the halves
  least = lesser(least, _mm256_shuffle_epi32(least, 0x4e));      // compares the two words of a half
  return {static_cast<std::uint64_t>(_mm256_extract_epi64(least, 0))};
}
}  // namespace detail
#endif

/// Next issue cycles of a compute unit's SIMDs.
class SimdTimes {
 public:
  static constexpr unsigned kMaxSimds = 8;

  /// `period`: cycles from one turn of a SIMD to the next. Both arguments are powers of two, with `period` <= `simds`.
  SimdTimes(unsigned simds, unsigned period) : simds_(simds), last_turn_(period - 1) {
    earliest_.fill(kNeverCycles);
    turns_.fill(kNeverCycles);
  }

  /// Lower bound of the cycle in which a wavefront of a SIMD can issue.
  Cycles earliest(unsigned simd) const { return earliest_[simd]; }
  /// Lower bound of the cycle in which a wavefront of any SIMD can issue.
  Cycles earliest() const { return least(earliest_); }
  void set(unsigned simd, Cycles earliest) {
    earliest_[simd] = earliest;
    turns_[simd] = turn(simd, earliest);
  }
  /// Like set(), for the SIMD currently being served; its turns are updated afterwards.
  void begin(unsigned simd, Cycles earliest) { earliest_[simd] = earliest; }
  void wake(unsigned simd, Cycles at) {
    if (at < earliest_[simd]) set(simd, at);
  }

  // The following functions are for turns: cycle c is the turn of SIMDs c mod period, c mod period + period, ...

  /// Calls `serve` with the number of each SIMD that has its turn in a cycle and can issue by then.
  template <typename Serve>
  void each_served_in(Cycles cycle, const Serve& serve) {
    for (auto simd = static_cast<unsigned>(cycle.n & last_turn_); simd < simds_;
         simd += static_cast<unsigned>(last_turn_) + 1) {
      if (turns_[simd] <= cycle) serve(simd);
    }
  }
  /// The first cycle in which a SIMD can issue.
  Cycles first_turn() const { return least(turns_); }
  /// The first cycle after `cycle` in which a SIMD can issue.
  Cycles first_turn_after(Cycles cycle) {
    Cycles first = first_turn();
    for (; first <= cycle; first = first_turn()) {
      each_served_in(first, [&](unsigned simd) { turns_[simd] = turn(simd, cycle + Cycles{1}); });
    }
    return first;
  }

 private:
  using Times = std::array<Cycles, kMaxSimds>;  // kNeverCycles for numbers from simds_ on

  Cycles turn(unsigned simd, Cycles earliest) const {
    if (earliest == kNeverCycles) return earliest;
    return earliest + Cycles{(simd - earliest.n) & last_turn_};
  }
  // Element by element: see detail/host_prefetch.h.
  Cycles least(const Times& times) const {
    const auto least_of_four = [&](unsigned first) {
      return earlier(earlier(times[first], times[first + 1]), earlier(times[first + 2], times[first + 3]));
    };
    return simds_ <= 4 ? least_of_four(0) : earlier(least_of_four(0), least_of_four(4));
  }

  Times earliest_;
  Times turns_;  // first turn at or after earliest_
  unsigned simds_;
  std::uint64_t last_turn_;  ///< period - 1
};

/// Wavefronts by rank: the oldest resident wavefront has rank 0. Masks have bit r for rank r.
struct IssueState {
  static constexpr unsigned kMaxSlots = 16;  // a power of two

  /// Earliest issue of each wavefront's next instruction; kNeverCycles if it is held. Free slots share the last element.
  alignas(32) std::array<Cycles, kMaxSlots + 1> ready;
  alignas(16) std::array<isa::Unit, kMaxSlots + 1> unit{};  ///< unit of the next instruction
  std::array<std::uint8_t, kMaxSlots> rank;                 ///< rank by slot number; kMaxSlots: the slot is free
  std::uint8_t last = kMaxSlots - 1;                        ///< slot that was served first in the latest cycle with an issue
  std::uint16_t favoured = 0;                               ///< bits of slots that have precedence
  unsigned resident = 0;                                    ///< number of resident wavefronts
  std::array<WavefrontSlot*, kMaxSlots> slots{};

  IssueState() {
    ready.fill(kNeverCycles);
    rank.fill(kMaxSlots);
  }
  /// Sets or clears the precedence of a wavefront, as requested by a load stage: ready wavefronts with precedence are
  /// considered before all others of the SIMD, regardless of the issue policy.
  void favour(unsigned number, bool favours) {
    const auto bit = static_cast<std::uint16_t>(1U << number);
    favoured = static_cast<std::uint16_t>(favours ? favoured | bit : favoured & ~bit);
  }
  /// Ranks of the wavefronts with precedence, one bit per rank.
  unsigned favoured_ranks() const {
    unsigned ranks = 0;
    for (unsigned number = 0; number < kMaxSlots; ++number) {
      if ((favoured >> number & 1) != 0 && rank[number] < kMaxSlots) ranks |= 1U << rank[number];
    }
    return ranks;
  }
  /// Adds a wavefront as the youngest.
  void add(WavefrontSlot& slot, unsigned number) {
    slots[resident] = &slot;
    rank[number] = static_cast<std::uint8_t>(resident++);
  }
  /// Removes a wavefront; younger wavefronts move up by a rank.
  void remove(unsigned number) {
    const unsigned left = rank[number];
    --resident;
    const auto move_up = [this, left](auto& of_rank) {
      std::copy(of_rank.begin() + left + 1, of_rank.begin() + resident + 1, of_rank.begin() + left);
    };
    move_up(ready);
    move_up(unit);
    move_up(slots);
    ready[resident] = ready[kMaxSlots] = kNeverCycles;
    rank[number] = kMaxSlots;
    for (std::uint8_t& r : rank) r = static_cast<std::uint8_t>(r - ((r > left) & (r != kMaxSlots)));
  }
  /// The `unit` values of all ranks in one vector register.
  class Units {
   public:
    explicit Units(const IssueState& state) : units_(load(state)) {}
    /// Ranks whose next instruction is for `unit`.
    unsigned that_are(isa::Unit unit) const {
#if defined(__AVX2__)
      return static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(units_, _mm_set1_epi8(static_cast<char>(unit)))));
#else
      unsigned ranks = 0;
      for (unsigned r = 0; r < kMaxSlots; ++r) ranks |= unsigned{units_[r] == unit} << r;
      return ranks;
#endif
    }

   private:
#if defined(__AVX2__)
    using Packed = __m128i;
    static Packed load(const IssueState& state) { return _mm_load_si128(reinterpret_cast<const Packed*>(state.unit.data())); }
#else
    using Packed = std::array<isa::Unit, kMaxSlots>;
    static Packed load(const IssueState& state) {
      Packed units;
      std::copy_n(state.unit.begin(), kMaxSlots, units.begin());
      return units;
    }
#endif
    Packed units_;
  };
  Units units() const { return Units(*this); }
  struct Ready {
    unsigned ranks;  ///< ranks that may issue at a cycle
    Cycles others;   ///< earliest issue of all other ranks
  };
  /// Wavefronts that may issue at a cycle.
  Ready ready_at(Cycles cycle) const {
#if defined(__AVX2__)
    // Unrolled for the numbers of wavefronts that existing machines hold.
    return resident <= 8 ? ready_of<2>(cycle) : resident <= 12 ? ready_of<3>(cycle) : ready_of<4>(cycle);
#else
    Ready result{0, kNeverCycles};
    for (unsigned r = 0; r < resident; ++r) {
      if (ready[r] <= cycle) {
        result.ranks |= 1U << r;
      } else {
        result.others = std::min(result.others, ready[r]);
      }
    }
    return result;
#endif
  }
  /// Earliest issue of any wavefront.
  Cycles earliest() const {
#if defined(__AVX2__)
    const auto lesser_of_eight = [this](unsigned first) {
      return detail::lesser(detail::four(ready.data() + first), detail::four(ready.data() + first + 4));
    };
    return detail::least_of_four(detail::lesser(lesser_of_eight(0), lesser_of_eight(8)));
#else
    return *std::min_element(ready.begin(), ready.begin() + kMaxSlots);
#endif
  }

#if defined(__AVX2__)
 private:
  /// ready_at() for at most 4 x kFours wavefronts.
  template <unsigned kFours>
  [[gnu::always_inline]] Ready ready_of(Cycles cycle) const {
    const __m256i now = _mm256_set1_epi64x(static_cast<std::int64_t>(cycle.n));
    const __m256i never = _mm256_set1_epi64x(static_cast<std::int64_t>(kNeverCycles.n));
    unsigned later = 0;
    __m256i others = never;
    for (unsigned i = 0; i < kFours; ++i) {
      const __m256i four = detail::four(ready.data() + 4 * i);
      const __m256i is_later = _mm256_cmpgt_epi64(four, now);
      later |= static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(is_later))) << 4 * i;
      others = detail::lesser(others, _mm256_blendv_epi8(never, four, is_later));
    }
    return {~later & ((1U << 4 * kFours) - 1), detail::least_of_four(others)};
  }
#endif
};

}  // namespace lacuna
