// The contract that every TLM target of Lacuna must fulfil. Link lacuna_tlm_contract and define contract_target() in the test
// of the model; the executable then runs the TlmContract tests in addition to the tests of the model.
#pragma once

#include <cstdint>
#include <functional>

#include "tests/harness/test_initiator.h"

namespace lacuna::test {

struct ContractTarget {
  TestInitiator& initiator;
  /// Address, aligned to `length`, of a range that returns written values and has no other effect.
  std::uint64_t address;
  unsigned length;
  /// The first address beyond the target.
  std::uint64_t end;
  /// Whether the target supports byte enables; otherwise it must reject all transactions with byte enables.
  bool byte_enables = true;
  /// Whether the target grants DMI at `address`.
  bool dmi = true;
  /// Returns the target to its state after construction; empty if the target has no state.
  std::function<void()> reset = {};
  /// Whether the data survive a reset.
  bool keeps_data = true;
};

/// Defined by each test executable. Called at the start of every test.
ContractTarget contract_target();

}  // namespace lacuna::test
