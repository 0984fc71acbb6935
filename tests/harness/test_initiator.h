// An initiator that issues transactions at given local times and reports when they complete.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "models/common/time/tlm_time.h"
#include "models/common/transport/memory_attributes.h"
#include "models/common/transport/payload_pool.h"

namespace lacuna::test {

struct Completion {
  tlm::tlm_response_status response = tlm::TLM_INCOMPLETE_RESPONSE;
  Tick at{};  ///< local time after the call, relative to the epoch
  LatencyBreakdown latency;

  bool ok() const { return response == tlm::TLM_OK_RESPONSE; }
};

/// Times are relative to an epoch, so that expected latencies do not depend on the simulated time at which a test begins.
class TestInitiator : public sc_core::sc_module {
 public:
  explicit TestInitiator(sc_core::sc_module_name module_name);

  tlm_utils::simple_initiator_socket<TestInitiator> socket;

  /// Starts a new epoch: advances simulated time to a multiple of `alignment` after all completions so far.
  void begin_epoch(Tick alignment = Tick{1'000'000});
  /// Uses the epoch of another initiator, which must be later than the epoch of this initiator.
  void share_epoch(const TestInitiator& other) { epoch_ = other.epoch_; }
  Tick epoch() const { return epoch_; }

  Completion read(Tick at, std::uint64_t address, std::span<std::byte> data);
  Completion write(Tick at, std::uint64_t address, std::span<const std::byte> data);
  /// Sends a timing-only request, which transfers no data (MemoryAttributes::timing_only).
  Completion time_read(Tick at, std::uint64_t address, unsigned length, const MemoryAttributes& attributes = {});
  Completion time_write(Tick at, std::uint64_t address, unsigned length, const MemoryAttributes& attributes = {});
  /// Sends a payload that the caller has filled, with the delay of local time `at`.
  Completion send(Tick at, tlm::tlm_generic_payload& payload);

  /// Loads a value of 1, 2, 4 or 8 bytes at local time `at`. A response other than OK fails the test.
  template <class T>
  T load(std::uint64_t address, Tick at = {}) {
    T value{};
    expect_ok(read(at, address, std::as_writable_bytes(std::span(&value, 1))), "load", address);
    return value;
  }
  template <class T>
  void store(std::uint64_t address, T value, Tick at = {}) {
    expect_ok(write(at, address, std::as_bytes(std::span(&value, 1))), "store", address);
  }
  /// Reads by transport_dbg. Returns the number of bytes transferred.
  unsigned debug_read(std::uint64_t address, std::span<std::byte> data);
  unsigned debug_write(std::uint64_t address, std::span<const std::byte> data);
  std::optional<tlm::tlm_dmi> dmi(std::uint64_t address, tlm::tlm_command command = tlm::TLM_READ_COMMAND);

  PayloadPool& pool() { return pool_; }
  /// DMI invalidations that this initiator has received, as ranges of addresses.
  const std::vector<std::pair<std::uint64_t, std::uint64_t>>& invalidations() const { return invalidations_; }
  void clear_invalidations() { invalidations_.clear(); }

 private:
  Completion transact(tlm::tlm_command command, Tick at, std::uint64_t address, std::byte* data, unsigned length,
                      const MemoryAttributes& attributes);
  unsigned debug(tlm::tlm_command command, std::uint64_t address, std::byte* data, unsigned length);
  void expect_ok(const Completion& completion, const char* what, std::uint64_t address);
  void invalidate_direct_mem_ptr(sc_dt::uint64 begin, sc_dt::uint64 end) { invalidations_.emplace_back(begin, end); }

  PayloadPool pool_;
  Tick epoch_{};
  Tick latest_{};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> invalidations_;
};

}  // namespace lacuna::test
