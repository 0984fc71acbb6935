// The contract that every TLM target of Lacuna passes. Link lacuna_tlm_contract and define contract_target() in the test of
// the model; the executable then runs the TlmContract tests in addition to its own.
#pragma once

#include <cstdint>
#include <functional>

#include "tests/harness/test_initiator.h"

namespace lacuna::test {

struct ContractTarget {
  TestInitiator& initiator;
  /// A range that returns written values and has no other effect, aligned to `length`.
  std::uint64_t address;
  unsigned length;
  /// The first address beyond the target.
  std::uint64_t end;
  /// Byte enables are honoured; otherwise every use of them must be refused.
  bool byte_enables = true;
  /// DMI is granted at `address`.
  bool dmi = true;
  /// Returns the target to its state after construction; empty = the target has no state.
  std::function<void()> reset = {};
  /// The data survive a reset.
  bool keeps_data = true;
};

/// Defined by each test executable. Called at the start of every test.
ContractTarget contract_target();

}  // namespace lacuna::test
