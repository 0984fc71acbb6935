#include "models/sida/pipeline/request_issuer.h"

#include <algorithm>
#include <utility>

namespace lacuna::sida {

void RequestIssuer::make_read(const MemoryRequest& request, Time earliest, Arrival& arrival) {
  counts_.read_bytes[static_cast<std::size_t>(request.kind)] += request.bytes;
  ++counts_.requests;
  if (skipping_) {
    arrival.arrived(earliest);
  } else {
    memory_.start_read(request, earliest, arrival);
  }
}

void RequestIssuer::make_write(const MemoryRequest& request, Time earliest) {
  counts_.written_bytes[static_cast<std::size_t>(request.kind)] += request.bytes;
  ++counts_.requests;
  writes_.expect(1, all_);
  if (skipping_) {
    writes_.arrived(earliest);
  } else {
    memory_.start_write(request, earliest, writes_);
  }
}

void RequestIssuer::make(Batch& batch) {
  for (const MemoryRequest& request : batch.requests) {
    if (batch.arrival == nullptr) {
      make_write(request, batch.when);
    } else {
      make_read(request, batch.when, *batch.arrival);
    }
  }
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

void RequestIssuer::hold(std::vector<MemoryRequest>& requests, Time when, Arrival* arrival) {
  Batch batch{when, arrival, {}};
  if (!spares_.empty()) {
    batch.requests = std::move(spares_.back());
    spares_.pop_back();
  }
  std::swap(batch.requests, requests);
  held_.push_back(std::move(batch));
}

void RequestIssuer::hold_reads(std::vector<MemoryRequest>& requests, Time when, Arrival& arrival) {
  arrival.expect(requests.size(), all_);
  arrival.no_earlier_than(when);
  hold(requests, when, &arrival);
}

void RequestIssuer::hold_writes(std::vector<MemoryRequest>& requests, Time when) {
  if (!requests.empty()) hold(requests, when, nullptr);
}

void RequestIssuer::read(const MemoryRequest& request, Time earliest, Arrival& arrival) {
  release(earliest);
  arrival.expect(1, all_);
  arrival.no_earlier_than(earliest);
  make_read(request, earliest, arrival);
}

void RequestIssuer::read(const std::vector<MemoryRequest>& requests, Time earliest, Arrival& arrival) {
  release(earliest);
  arrival.expect(requests.size(), all_);
  arrival.no_earlier_than(earliest);
  for (const MemoryRequest& request : requests) make_read(request, earliest, arrival);
}

void RequestIssuer::write(const std::vector<MemoryRequest>& requests, Time earliest) {
  release(earliest);
  for (const MemoryRequest& request : requests) make_write(request, earliest);
}

}  // namespace lacuna::sida
