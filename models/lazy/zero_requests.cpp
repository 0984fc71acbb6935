#include "models/lazy/zero_requests.h"

#include <algorithm>

#include "models/common/containers/pooled_records.h"

namespace lacuna {

// Searches backwards: neighbouring lines are mostly in the latest transactions.
void ZeroRequests::collect(std::span<const CoalescedLine> lines, Use use) {
  masks_.clear();
  all_covered_ = true;
  for (const CoalescedLine& line : lines) {
    const std::uint64_t address = physical_.find(line.address);
    if (address == PhysicalAddresses::kUnmapped || !path_.map->covers(address)) {
      all_covered_ = false;
      continue;
    }
    if (path_.masks != nullptr) {
      if (use == Use::store) path_.masks->stored(path_.group, address, line.byte_mask);
      if (use == Use::atomic) path_.masks->changed(path_.group, address, line.byte_mask);
    }
    const ZeroMaskMap::Place place = path_.map->find(address);
    const ByteMask byte = ByteMask(1) << place.bit / 8;
    const auto same =
        std::find_if(masks_.rbegin(), masks_.rend(), [&](const Mask& mask) { return mask.address == place.transaction; });
    if (same == masks_.rend()) {
      masks_.push_back({place.transaction, byte, line.address});
    } else {
      same->byte_mask |= byte;
    }
  }
}

template <typename TagOf>
void ZeroRequests::send(Tick at, bool write, TagOf&& tag_of) {
  at = leaving_.reserve(at, clock_.period() * masks_.size());
  std::uint64_t page = ~std::uint64_t{0};
  MemoryRequest request{.bytes = static_cast<std::uint16_t>(path_.map->transaction()),
                        .requester = requester_,
                        .kind = RequestKind::vector,
                        .write = write};
  for (const Mask& mask : masks_) {
    if (mask.line / GpuVm::kPage != page) {
      page = mask.line / GpuVm::kPage;
      port_.translate(mask.line, at);
    }
    request.address = mask.address;
    request.made = at;
    if (write) request.byte_mask = mask.byte_mask;
    const std::uint32_t tag = tag_of();
    MemoryResponse response;
    if (port_.request(request, tag, response)) on_response(tag, response);
    at += clock_.period();
  }
}

void ZeroRequests::read(Tick at, Client& client, std::uint32_t tag) {
  reads_ += masks_.size();
  send(at, false, [&] {
    const std::uint32_t reader = take_record(readers_, free_);
    readers_[reader] = {&client, tag};
    return reader;
  });
}

void ZeroRequests::write(Tick at, MemoryTokens::Token token) {
  writes_ += masks_.size();
  tokens_.expect(token, static_cast<unsigned>(masks_.size()));
  send(at, true, [token] { return token | kWrite; });
}

void ZeroRequests::on_response(std::uint32_t tag, const MemoryResponse& response) {
  if ((tag & kWrite) != 0) {
    tokens_.add(tag & ~kWrite, response, response.done);
    return;
  }
  const Reader reader = readers_[tag];
  free_.push_back(tag);
  reader.client->zeros_known(reader.tag, response.done);
}

void ZeroRequests::reset() {
  port_.reset();
  leaving_.reset();
  readers_.clear();
  free_.clear();
}

}  // namespace lacuna
