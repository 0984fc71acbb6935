// Keeps when requests to a LineMemory were answered.
#pragma once

#include <cstdint>
#include <map>

#include "models/common/transport/line_memory.h"

namespace lacuna::test {

/// By tag.
struct Answers : LineClient {
  std::map<std::uint32_t, Tick> told;
  void answered(std::uint32_t tag, const LineAnswer& answer) override { told[tag] = answer.done; }
};

}  // namespace lacuna::test
