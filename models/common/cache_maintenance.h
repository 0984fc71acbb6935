// What the command processor asks of caches at acquire and release scopes.
#pragma once

#include "models/common/units.h"

namespace lacuna {

/// Implemented by every cache. `at` is the time of the request; the result is when it is done.
class CacheMaintenance {
 public:
  virtual ~CacheMaintenance() = default;
  /// Drops all clean lines (and, for caches that hold dirty bytes, writes them back first).
  virtual Tick invalidate(Tick at) = 0;
  /// Writes all dirty bytes to the next level; lines stay valid.
  virtual Tick write_back(Tick at) = 0;
};

}  // namespace lacuna
