#include "models/extensions.h"

#include "models/duplo/duplo.h"
#include "models/lazy/lazy_gpu.h"
#include "models/neardata/near_data.h"
#include "models/sida/device/sida_extension.h"

namespace lacuna {

ExtensionSet all_extensions() {
  ExtensionSet all;
  all.add(std::make_unique<LazyGpuParameters>());
  all.add(std::make_unique<NearDataParameterSet>());
  all.add(std::make_unique<DuploParameterSet>());
  all.add(std::make_unique<SidaParameterSet>());
  return all;
}

}  // namespace lacuna
