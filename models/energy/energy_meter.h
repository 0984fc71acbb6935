// Energy of a device: picojoules for each event that its blocks count, and watts of static power.
//
// Blocks register themselves, as they do with statistics: a kind of event is a counter and the energy of one event. The meter
// stores no energies and only reads counters: energy is always computed from the counts and the duration of an interval, so
// that the energies of consecutive intervals add up.
//
//   meter.add("l2", "tag", statistics_.reads, 12.0);   // counter of one bank; the event's count is the sum over all banks
//   meter.add_static("l2", 0.1, StaticPower::leakage);  // one bank
//
// All instances of a block have the same energy for an event. Names appear in the output files.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/common/time/units.h"
#include "models/energy/energy_number.h"

namespace lacuna {

/// Kinds of power that does not depend on what the device executes.
enum class StaticPower : std::uint8_t {
  leakage,   ///< leakage of the transistors of the core
  clock,     ///< clock trees that are not gated
  constant,  ///< power of parts with a separate supply: DRAM, PHYs, board
};
inline constexpr std::size_t kStaticPowers = 3;
inline constexpr std::array<std::string_view, kStaticPowers> kStaticPowerNames{"leakage", "clock", "constant"};

/// An energy or a power if the energy of every event and every static power has its low value, and if every one has its high
/// value.
struct EnergyBounds {
  double low = 0;
  double high = 0;

  EnergyBounds& operator+=(const EnergyBounds& other) {
    low += other.low;
    high += other.high;
    return *this;
  }
};

inline EnergyBounds total_of(std::span<const EnergyBounds> blocks) {
  EnergyBounds total;
  for (const EnergyBounds& block : blocks) total += block;
  return total;
}

/// Number of bits that differ between consecutive words, and number of pairs of consecutive words.
struct ToggleCount {
  std::uint64_t bits = 0;
  std::uint64_t words = 0;

  ToggleCount& operator+=(const ToggleCount& other) {
    bits += other.bits;
    words += other.words;
    return *this;
  }
};

class EnergyMeter {
 public:
  struct Event {
    std::size_t block;  ///< index in blocks()
    std::string name;
    double picojoules;
  };
  /// Counts of events since the start of the simulation, by index in events().
  using Counts = std::vector<std::uint64_t>;

  /// `counter` must outlive the meter. Throws std::invalid_argument if the energy is negative or NaN, std::logic_error if the
  /// same event of the same block has been added with another energy.
  void add(std::string_view block, std::string_view event, const std::uint64_t& counter, double picojoules,
           DataKind data = DataKind::none);
  /// Measures the switching of data of this kind. Each event NAME of the kind that is added later keeps the part `1 - share` of
  /// its energy; an additional event "NAME_data" has the rest. The count of "NAME_data" is the count of NAME times the number
  /// of changed bits relative to random data, which is averaged between two readings of the meter. `toggles` returns counts
  /// since the start of the simulation.
  void measure(DataKind kind, double share, std::function<ToggleCount()> toggles);
  /// Adds static power of a part of the block. Throws std::invalid_argument if the power is negative or NaN.
  void add_static(std::string_view block, double watts, StaticPower kind = StaticPower::leakage);
  /// Registers a function that is called before counters are read, to update counters derived from other data.
  void before_reading(std::function<void()> update) { updates_.push_back(std::move(update)); }
  /// Adds the counter `amount` to every event that has `counter`: the same events, performed by another unit. Must be called
  /// after all calls of add() for `counter`; `amount` must outlive the meter.
  void count_also(const std::uint64_t& counter, const std::uint64_t& amount);
  /// Subtracts `amount` from the count of an event, for events that the counters of add() include but that did not happen, such
  /// as the register writes of a renamed load. Must be called after add() for the event: throws std::logic_error if the event
  /// is unknown. `amount` must outlive the meter and must never exceed the event's count.
  void spare(std::string_view block, std::string_view event, const std::uint64_t& amount);

  /// Adds events that were not counted because they are estimates: `counts`, by index in events().
  void add_estimated(std::span<const std::uint64_t> counts);
  /// Between begin_discarding() and end_discarding(), counters change without events: the instructions that change them execute
  /// without timing, and their events are estimates. counts() must not be called in between.
  void begin_discarding();
  void end_discarding();

  /// Takes the lower and upper bounds of all energies and powers from two meters with which the same blocks have registered.
  /// Throws std::logic_error if their blocks or events differ from those of this meter. Without bounds, energies are exact.
  void set_bounds(const EnergyMeter& low, const EnergyMeter& high);

  Counts counts() const;
  const std::vector<std::string>& blocks() const { return blocks_; }
  const std::vector<Event>& events() const { return events_; }
  /// Static power by block.
  const std::vector<double>& static_watts() const { return watts_; }
  /// The part of static_watts() that is of this kind, by block.
  const std::vector<double>& static_watts(StaticPower kind) const { return kinds_[static_cast<std::size_t>(kind)]; }
  /// Energy by block: `counts` of each event, not necessarily whole numbers, and static power over `picoseconds`.
  std::vector<double> joules(std::span<const double> counts, double picoseconds) const;
  /// Bounds of joules(), by block; without set_bounds() both are equal to it. Like joules(), they add up over intervals.
  std::vector<EnergyBounds> bounds(std::span<const double> counts, double picoseconds) const;

 private:
  std::size_t block(std::string_view name);

  std::vector<std::string> blocks_;
  std::vector<double> watts_;
  std::array<std::vector<double>, kStaticPowers> kinds_;  ///< watts_ by kind
  std::vector<Event> events_;
  std::vector<EnergyBounds> event_bounds_;   ///< picojoules by event; empty: none
  std::vector<EnergyBounds> static_bounds_;  ///< watts by block
  struct Source {
    const std::uint64_t* counter;
    std::size_t event;
    bool spared = false;  ///< subtracted, see spare()
  };
  std::vector<Source> sources_;
  Counts estimated_;  ///< counts of estimated events, by index in events(); empty: none
  Counts discarded_;  ///< counts of discarded events, by index in events(); empty: none
  Counts before_discarding_;
  std::vector<std::function<void()>> updates_;

  struct Measured {
    double share = 0;
    std::function<ToggleCount()> toggles;  ///< null: not measured
    ToggleCount last;
    double ratio = 1;  ///< changed bits between the last two readings, relative to random data
  };
  /// An event whose count is that of another event, weighted by changed bits.
  struct Weighted {
    std::size_t event;
    std::size_t base;
    DataKind data;
    std::uint64_t last = 0;
    double count = 0;
  };
  void weigh(Counts& counts) const;
  mutable std::array<Measured, kDataKinds> measured_;  ///< by DataKind; updated by each reading
  mutable std::vector<Weighted> weighted_;
};

}  // namespace lacuna
