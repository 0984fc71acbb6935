// Memory manager for generic payloads with MemoryAttributes attached. Nothing is allocated in steady state.
#pragma once

#include <memory>
#include <tlm>
#include <vector>

#include "models/common/transport/memory_attributes.h"

namespace lacuna {

/// Provides payloads in their reset state, which return to the pool when their reference count drops to zero. Each initiator
/// has a pool. Not thread-safe, as SystemC uses one thread.
class PayloadPool : public tlm::tlm_mm_interface {
 public:
  PayloadPool();
  /// Deletes all payloads, which must have been returned.
  ~PayloadPool() override;
  PayloadPool(const PayloadPool&) = delete;
  PayloadPool& operator=(const PayloadPool&) = delete;

  /// A payload with one reference held by the caller and a default MemoryAttributes attached.
  tlm::tlm_generic_payload& acquire();
  void free(tlm::tlm_generic_payload* payload) override;
  /// Number of payloads created so far, which is constant in steady state (tested).
  std::size_t allocated() const { return all_.size(); }

 private:
  struct Entry;
  std::vector<std::unique_ptr<Entry>> all_;
  std::vector<Entry*> idle_;
};

/// A payload that is acquired by the constructor and released by the destructor.
class PooledPayload {
 public:
  explicit PooledPayload(PayloadPool& pool) : payload_(pool.acquire()) {}
  ~PooledPayload() { payload_.release(); }
  PooledPayload(const PooledPayload&) = delete;
  PooledPayload& operator=(const PooledPayload&) = delete;

  tlm::tlm_generic_payload& operator*() { return payload_; }
  tlm::tlm_generic_payload* operator->() { return &payload_; }
  MemoryAttributes& attributes() { return *payload_.get_extension<MemoryAttributes>(); }

 private:
  tlm::tlm_generic_payload& payload_;
};

}  // namespace lacuna
