// Use of a mesh's links and ports while kernels run: links.csv and links.svg (output.links).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "models/command/kernel_record.h"
#include "models/common/time/units.h"
#include "models/gpu/gpu_device.h"
#include "platform/picture/mesh_map.h"

namespace lacuna {

class LinkRecorder {
 public:
  /// Adds a device; no effect if its network is not a mesh.
  void add(GpuDevice& device);
  bool empty() const { return devices_.empty(); }

  /// Writes a line per link and port of each device.
  void write_csv(std::ostream& out) const;
  struct Picture {
    std::string file;
    std::string svg;
  };
  /// The pictures, one per device.
  std::vector<Picture> pictures() const;

 private:
  class Device;
  std::vector<std::shared_ptr<Device>> devices_;
};

}  // namespace lacuna
