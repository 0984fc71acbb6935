// Keeps when requests to a MemoryTarget were complete.
#pragma once

#include <cstdint>
#include <map>

#include "models/common/transport/memory_request.h"

namespace lacuna::test {

/// By tag.
struct ResponseRecorder : MemoryClient {
  std::map<std::uint32_t, Tick> told;
  void on_response(std::uint32_t tag, const MemoryResponse& response) override { told[tag] = response.done; }
};

}  // namespace lacuna::test
