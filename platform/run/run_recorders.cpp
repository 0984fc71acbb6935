#include "platform/run/run_recorders.h"

namespace lacuna {

void RunRecorders::add(GpuDevice& device, const OutputParameters& output) {
  energy.add(device);
  requests.add(device);
  if (output.links) links.add(device);
  look_ups.add(device);
  jobs.add(device);
}

void RunRecorders::finish(Tick at) {
  requests.finish(at);
  if (!energy.empty()) energy.finish(at);
  look_ups.finish();
}

}  // namespace lacuna
