// Records the completion times of requests to a MemoryTarget.
#pragma once

#include <cstdint>
#include <map>

#include "models/common/transport/memory_request.h"

namespace lacuna::test {

struct ResponseRecorder : MemoryClient {
  std::map<std::uint32_t, Tick> completed;  ///< indexed by tag
  void on_response(std::uint32_t tag, const MemoryResponse& response) override { completed[tag] = response.done; }
};

}  // namespace lacuna::test
