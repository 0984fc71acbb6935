#include "models/sida/pipeline/request_issuer.h"

#include <algorithm>
#include <utility>

namespace lacuna::sida {

Time RequestIssuer::make_read(const MemoryRequest& request, Time earliest) {
  counts_.read_bytes[static_cast<std::size_t>(request.kind)] += request.bytes;
  ++counts_.requests;
  const Time arrival = memory_.read(request, earliest);
  last_ = std::max(last_, arrival);
  return arrival;
}

void RequestIssuer::make_write(const MemoryRequest& request, Time earliest) {
  counts_.written_bytes[static_cast<std::size_t>(request.kind)] += request.bytes;
  ++counts_.requests;
  last_ = std::max(last_, memory_.write(request, earliest));
}

void RequestIssuer::make(Batch& batch) {
  Time arrived = batch.when;
  for (const MemoryRequest& request : batch.requests) {
    if (batch.arrived == nullptr) {
      make_write(request, batch.when);
    } else {
      arrived = std::max(arrived, make_read(request, batch.when));
    }
  }
  if (batch.arrived != nullptr) *batch.arrived = arrived;
}

void RequestIssuer::release(Time until) {
  while (!held_.empty()) {
    const auto next =
        std::min_element(held_.begin(), held_.end(), [](const Batch& a, const Batch& b) { return a.when < b.when; });
    if (next->when > until) return;
    Batch batch = std::move(*next);
    held_.erase(next);
    make(batch);
    batch.requests.clear();
    spares_.push_back(std::move(batch.requests));
  }
}

void RequestIssuer::hold(std::vector<MemoryRequest>& requests, Time when, Time* arrived) {
  Batch batch{when, arrived, {}};
  if (!spares_.empty()) {
    batch.requests = std::move(spares_.back());
    spares_.pop_back();
  }
  std::swap(batch.requests, requests);
  held_.push_back(std::move(batch));
}

void RequestIssuer::hold_reads(std::vector<MemoryRequest>& requests, Time when, Time* arrived) {
  hold(requests, when, arrived);
}

void RequestIssuer::hold_writes(std::vector<MemoryRequest>& requests, Time when) {
  if (!requests.empty()) hold(requests, when, nullptr);
}

Time RequestIssuer::read(const MemoryRequest& request, Time earliest) {
  release(earliest);
  return make_read(request, earliest);
}

Time RequestIssuer::read(const std::vector<MemoryRequest>& requests, Time earliest) {
  release(earliest);
  Time arrived = earliest;
  for (const MemoryRequest& request : requests) arrived = std::max(arrived, make_read(request, earliest));
  return arrived;
}

void RequestIssuer::write(const MemoryRequest& request, Time earliest) {
  release(earliest);
  make_write(request, earliest);
}

void RequestIssuer::write(const std::vector<MemoryRequest>& requests, Time earliest) {
  release(earliest);
  for (const MemoryRequest& request : requests) make_write(request, earliest);
}

}  // namespace lacuna::sida
