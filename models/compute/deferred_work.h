// Work that units collect within a window and that Windows performs at its end, in order of simulated time over all units.
#pragma once

#include "models/common/time/units.h"

namespace lacuna {

class DeferredWork {
 public:
  virtual ~DeferredWork() = default;

  /// Number of items of this window. Items are numbered in order of occurrence.
  virtual unsigned count() const = 0;
  /// Simulated time of an item; does not necessarily increase with the item's number.
  virtual Tick at(unsigned number) const = 0;
  /// Called once for each item, on the thread of the SystemC kernel.
  virtual void perform(unsigned number) = 0;
  /// Called when the items of all units have been performed.
  virtual void clear() = 0;

  /// Registers a flag that every new item sets, so that only groups with items are searched. The flag outlives this object.
  void attach(bool& pending) { pending_ = &pending; }

 protected:
  void added() {
    if (pending_ != nullptr) *pending_ = true;
  }

 private:
  bool* pending_ = nullptr;
};

}  // namespace lacuna
