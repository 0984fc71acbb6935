#include "models/compute/global_wave_sync.h"

namespace lacuna {

bool GlobalWaveSync::perform(const isa::WaveSyncRequest& request, const WavefrontTicket& wavefront) {
  released_.clear();
  Resource& resource = resources_[request.resource % kResources];
  switch (request.operation) {
    case isa::WaveSync::init:
      resource.counter = request.value;
      return true;
    case isa::WaveSync::barrier:
      return arrive(resource, request.value, wavefront);
    case isa::WaveSync::semaphore_v:
      ++resource.counter;
      break;
    case isa::WaveSync::semaphore_add:
      resource.counter += request.value;
      break;
    case isa::WaveSync::semaphore_release_all:
      resource.counter = static_cast<std::int64_t>(resource.waiting.size());
      break;
    case isa::WaveSync::semaphore_p:
      if (resource.counter <= 0) {
        resource.waiting.push_back(wavefront);
        return false;
      }
      --resource.counter;
      return true;
  }
  let_pass(resource);
  return true;
}

// The last wavefront to arrive sets the count for the next use, so that each barrier may have a different size.
bool GlobalWaveSync::arrive(Resource& resource, std::uint32_t value, const WavefrontTicket& wavefront) {
  if (resource.counter > 0) {
    --resource.counter;
    resource.waiting.push_back(wavefront);
    return false;
  }
  released_.assign(resource.waiting.begin(), resource.waiting.end());
  resource.waiting.clear();
  resource.counter = value;
  return true;
}

void GlobalWaveSync::let_pass(Resource& resource) {
  while (resource.counter > 0 && !resource.waiting.empty()) {
    --resource.counter;
    released_.push_back(resource.waiting.front());
    resource.waiting.pop_front();
  }
}

void GlobalWaveSync::drop(const Dispatch& dispatch) {
  for (Resource& resource : resources_) {
    std::erase_if(resource.waiting, [&dispatch](const WavefrontTicket& w) { return w.dispatch == &dispatch; });
  }
}

}  // namespace lacuna
