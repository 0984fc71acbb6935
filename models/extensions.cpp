#include "models/extensions.h"

#include "models/lazy/lazy_gpu.h"

namespace lacuna {

ExtensionSet all_extensions() {
  ExtensionSet all;
  all.add(std::make_unique<LazyGpuParameters>());
  return all;
}

}  // namespace lacuna
