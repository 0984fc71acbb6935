#include "models/cache/cache.h"

namespace lacuna {

// Events are per sector, as in the statistics. A miss forwards its data past the bank, and writes them into the bank once.
void Cache::describe_energy(EnergyMeter& meter, std::string_view block, const CacheEnergy& energy) const {
  const CacheStatistics& s = statistics_;
  const auto bytes = static_cast<double>(parameters_.sector.n);
  const double read = energy.read * bytes;
  const double write = energy.write * bytes;
  meter.add(block, "tag", s.reads, energy.tag);
  meter.add(block, "tag", s.writes, energy.tag);
  meter.add(block, "tag", s.bypasses, energy.tag);
  meter.add(block, "read", s.read_hits, read, DataKind::arrays);
  meter.add(block, "read", s.secondary_misses, read, DataKind::arrays);
  meter.add(block, "read", s.write_backs, read, DataKind::arrays);
  meter.add(block, "write", s.read_misses, write, DataKind::arrays);
  meter.add(block, "write", s.write_hits, write, DataKind::arrays);
  if (parameters_.write_policy == WritePolicy::write_back) {
    // An atomic is counted among the reads, and in addition writes its sector.
    meter.add(block, "write", s.write_misses, write, DataKind::arrays);
    meter.add(block, "write", s.atomics, write, DataKind::arrays);
    meter.add(block, "atomic", s.atomics, energy.atomic);
  } else {
    meter.add(block, "tag", s.atomics, energy.tag);
  }
  meter.add_static(block, energy.leakage, StaticPower::leakage);
  meter.add_static(block, energy.clock, StaticPower::clock);
}

}  // namespace lacuna
