// Interface through which the command processor invalidates and writes back caches at acquire and release.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/common/time/units.h"

namespace lacuna {

/// Implemented by every cache. Functions that receive the time `at` of the request return its completion time.
class CacheMaintenance {
 public:
  virtual ~CacheMaintenance() = default;
  /// Drops all clean lines. A cache that holds dirty bytes first writes them back.
  virtual Tick invalidate(Tick at) = 0;
  /// Writes all dirty bytes to the next level; lines stay valid.
  virtual Tick write_back(Tick at) = 0;
  /// Drops the clean lines of a range of bus addresses, whose data have been replaced downstream of the cache. Takes no time.
  virtual void drop_clean(std::uint64_t address, std::uint64_t bytes) = 0;
};

/// Several caches that are maintained together; an operation is complete when the last cache has completed it.
class CachesTogether : public CacheMaintenance {
 public:
  explicit CachesTogether(std::vector<CacheMaintenance*> caches) : caches_(std::move(caches)) {}
  Tick invalidate(Tick at) override {
    Tick done = at;
    for (CacheMaintenance* cache : caches_) done = later(done, cache->invalidate(at));
    return done;
  }
  Tick write_back(Tick at) override {
    Tick done = at;
    for (CacheMaintenance* cache : caches_) done = later(done, cache->write_back(at));
    return done;
  }
  void drop_clean(std::uint64_t address, std::uint64_t bytes) override {
    for (CacheMaintenance* cache : caches_) cache->drop_clean(address, bytes);
  }

 private:
  std::vector<CacheMaintenance*> caches_;
};

}  // namespace lacuna
