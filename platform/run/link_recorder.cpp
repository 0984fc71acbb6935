#include "platform/run/link_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <sstream>
#include <utility>

#include "models/common/time/tlm_time.h"
#include "platform/picture/device_mesh.h"

namespace lacuna {

/// Counts the flits that the mesh carries while at least one kernel runs.
class LinkRecorder::Device final : public KernelObserver {
 public:
  Device(const GpuDevice& device, MeshMap map) : device_(device), map_(std::move(map)), clock_(device.parameters().noc.clock) {
    sum_.nodes.resize(map_.nodes.size());
  }

  void kernel_started(const Dispatch& dispatch) override {
    if (running_++ != 0) return;
    began_ = dispatch.start;
    before_ = carried(device_, map_);
  }
  void kernel_ended(const KernelRecord& record) override {
    if (running_ == 0) return;
    ended_ = later(ended_, record.end);
    if (--running_ != 0) return;
    const MeshUse now = carried(device_, map_);
    for (std::size_t node = 0; node < map_.nodes.size(); ++node) {
      for (unsigned port = 0; port < MeshUse::ports; ++port) {
        sum_.nodes[node].at(port).requests += now.nodes[node].at(port).requests - before_.nodes[node].at(port).requests;
        sum_.nodes[node].at(port).replies += now.nodes[node].at(port).replies - before_.nodes[node].at(port).replies;
      }
    }
    sum_.cycles += clock_.ceil(ended_ - began_).n;
  }

  std::string name() const { return device_.basename(); }
  const MeshMap& map() const { return map_; }
  MeshUse use() const {
    MeshUse use = sum_;
    set_injection(map_, use);
    return use;
  }

 private:
  const GpuDevice& device_;
  const MeshMap map_;
  const Clock clock_;
  unsigned running_ = 0;
  Tick began_{};
  Tick ended_{};
  MeshUse before_;
  MeshUse sum_;
};

void LinkRecorder::add(GpuDevice& device) {
  std::optional<MeshMap> map = mesh_map(device);
  if (!map) return;
  devices_.push_back(std::make_shared<Device>(device, std::move(*map)));
  device.add_observer(*devices_.back());
}

void LinkRecorder::write_csv(std::ostream& out) const {
  out << "device,x,y,node,port,requests,replies,cycles\n";
  for (const auto& device : devices_) {
    const MeshMap& map = device->map();
    const MeshUse use = device->use();
    for (unsigned node = 0; node < map.nodes.size(); ++node) {
      for (unsigned port = 0; port < MeshUse::ports; ++port) {
        const PortFlits& flits = use.nodes[node].at(port);
        out << fmt::format("{},{},{},{},{},{},{},{}\n", device->name(), node % map.columns, node / map.columns,
                           map.nodes[node].label, MeshUse::port_name(port), flits.requests, flits.replies, use.cycles);
      }
    }
  }
}

std::vector<LinkRecorder::Picture> LinkRecorder::pictures() const {
  std::vector<Picture> all;
  for (const auto& device : devices_) {
    std::ostringstream svg;
    const MeshUse use = device->use();
    write_use_svg(device->map(), use, fmt::format("Use of links and ports in {} cycles of kernels", use.cycles), svg);
    all.push_back({devices_.size() == 1 ? "links.svg" : fmt::format("links_{}.svg", device->name()), svg.str()});
  }
  return all;
}

}  // namespace lacuna
