#include "models/common/hsa.h"

#include <cstring>

namespace lacuna::hsa {

KernelDescriptor KernelDescriptor::read(const std::byte* raw) {
  KernelDescriptor d;
  std::memcpy(&d.entry_offset, raw + 16, sizeof d.entry_offset);
  std::memcpy(&d.rsrc3, raw + 44, sizeof d.rsrc3);
  std::memcpy(&d.rsrc1, raw + 48, sizeof d.rsrc1);
  std::memcpy(&d.rsrc2, raw + 52, sizeof d.rsrc2);
  std::memcpy(&d.properties, raw + 56, sizeof d.properties);
  return d;
}

}  // namespace lacuna::hsa
