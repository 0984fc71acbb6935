#include "tests/harness/test_initiator.h"

#include <gtest/gtest.h>

#include "tests/harness/harness.h"

namespace lacuna::test {

TestInitiator::TestInitiator(sc_core::sc_module_name module_name) : sc_module(module_name), socket("socket") {
  socket.register_invalidate_direct_mem_ptr(this, &TestInitiator::invalidate_direct_mem_ptr);
}

void TestInitiator::begin_epoch(Tick alignment) {
  const Tick from = later(latest_, now());
  epoch_ = Tick{(from.ps / alignment.ps + 1) * alignment.ps};
  wait_for(epoch_ - now());
}

Completion TestInitiator::send(Tick at, tlm::tlm_generic_payload& payload) {
  EXPECT_GE(epoch_ + at, now()) << "a request in the kernel's past: another initiator has begun a later epoch";
  sc_core::sc_time delay;
  set_local_time(delay, epoch_ + at);
  const sc_core::sc_time before = delay;
  socket->b_transport(payload, delay);
  EXPECT_GE(delay, before) << "the annotated delay went backwards";
  const Tick end = local_time(delay);
  latest_ = later(latest_, end);
  Completion completion{payload.get_response_status(), end - epoch_, {}};
  if (const auto* attributes = payload.get_extension<MemoryAttributes>()) completion.latency = attributes->latency;
  return completion;
}

Completion TestInitiator::transact(tlm::tlm_command command, Tick at, std::uint64_t address, std::byte* data, unsigned length,
                                   const MemoryAttributes& attributes) {
  PooledPayload payload(pool_);
  payload.attributes() = attributes;
  payload->set_command(command);
  payload->set_address(address);
  payload->set_data_ptr(reinterpret_cast<unsigned char*>(data));
  payload->set_data_length(length);
  payload->set_streaming_width(length);
  return send(at, *payload);
}

Completion TestInitiator::read(Tick at, std::uint64_t address, std::span<std::byte> data) {
  return transact(tlm::TLM_READ_COMMAND, at, address, data.data(), static_cast<unsigned>(data.size()), {});
}

Completion TestInitiator::write(Tick at, std::uint64_t address, std::span<const std::byte> data) {
  // The generic payload has one data pointer for both directions; a target only reads through it during a write.
  return transact(tlm::TLM_WRITE_COMMAND, at, address, const_cast<std::byte*>(data.data()), static_cast<unsigned>(data.size()),
                  {});
}

Completion TestInitiator::time_read(Tick at, std::uint64_t address, unsigned length, const MemoryAttributes& attributes) {
  MemoryAttributes timing = attributes;
  timing.timing_only = true;
  return transact(tlm::TLM_READ_COMMAND, at, address, nullptr, length, timing);
}

Completion TestInitiator::time_write(Tick at, std::uint64_t address, unsigned length, const MemoryAttributes& attributes) {
  MemoryAttributes timing = attributes;
  timing.timing_only = true;
  return transact(tlm::TLM_WRITE_COMMAND, at, address, nullptr, length, timing);
}

unsigned TestInitiator::debug(tlm::tlm_command command, std::uint64_t address, std::byte* data, unsigned length) {
  PooledPayload payload(pool_);
  payload->set_command(command);
  payload->set_address(address);
  payload->set_data_ptr(reinterpret_cast<unsigned char*>(data));
  payload->set_data_length(length);
  payload->set_streaming_width(length);
  return socket->transport_dbg(*payload);
}

unsigned TestInitiator::debug_read(std::uint64_t address, std::span<std::byte> data) {
  return debug(tlm::TLM_READ_COMMAND, address, data.data(), static_cast<unsigned>(data.size()));
}

unsigned TestInitiator::debug_write(std::uint64_t address, std::span<const std::byte> data) {
  return debug(tlm::TLM_WRITE_COMMAND, address, const_cast<std::byte*>(data.data()), static_cast<unsigned>(data.size()));
}

std::optional<tlm::tlm_dmi> TestInitiator::dmi(std::uint64_t address, tlm::tlm_command command) {
  PooledPayload payload(pool_);
  payload->set_command(command);
  payload->set_address(address);
  payload->set_data_length(1);
  payload->set_streaming_width(1);
  tlm::tlm_dmi region;
  if (!socket->get_direct_mem_ptr(*payload, region)) return std::nullopt;
  return region;
}

void TestInitiator::expect_ok(const Completion& completion, const char* what, std::uint64_t address) {
  EXPECT_TRUE(completion.ok()) << what << " at 0x" << std::hex << address << " answered " << std::dec << completion.response;
}

}  // namespace lacuna::test
