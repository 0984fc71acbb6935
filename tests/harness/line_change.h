// Checks whether a read or write notifies its initiator of a changed interrupt line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/common/transport/line_change.h"
#include "tests/harness/test_initiator.h"

namespace lacuna::test {

/// Makes one access of `width` bytes with a LineChange extension. Returns whether the response is OK and reports a changed
/// line.
inline bool changes_line(TestInitiator& initiator, tlm::tlm_command command, std::uint64_t address, unsigned width,
                         std::uint64_t value = 0) {
  std::array<unsigned char, 8> data{};
  for (unsigned i = 0; i < width; ++i) data[i] = static_cast<unsigned char>(value >> 8 * i);
  LineChange line;
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(data.data());
  payload.set_data_length(width);
  payload.set_streaming_width(width);
  payload.set_extension(&line);
  const bool ok = initiator.send(Tick{}, payload).ok();
  payload.clear_extension(&line);
  return ok && line.changed;
}

inline bool read_changes_line(TestInitiator& initiator, std::uint64_t address, unsigned width) {
  return changes_line(initiator, tlm::TLM_READ_COMMAND, address, width);
}
inline bool write_changes_line(TestInitiator& initiator, std::uint64_t address, unsigned width, std::uint64_t value) {
  return changes_line(initiator, tlm::TLM_WRITE_COMMAND, address, width, value);
}

}  // namespace lacuna::test
