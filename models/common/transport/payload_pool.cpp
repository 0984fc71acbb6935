#include "models/common/transport/payload_pool.h"

namespace lacuna {

struct PayloadPool::Entry : tlm::tlm_generic_payload {
  Entry() { set_extension(&attributes); }
  // The payload's destructor would delete extensions that are still attached.
  ~Entry() override { clear_extension(&attributes); }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  MemoryAttributes attributes;
};

PayloadPool::PayloadPool() = default;
PayloadPool::~PayloadPool() = default;

tlm::tlm_generic_payload& PayloadPool::acquire() {
  if (idle_.empty()) {
    all_.push_back(std::make_unique<Entry>());
    all_.back()->set_mm(this);
    idle_.reserve(all_.size());
    idle_.push_back(all_.back().get());
  }
  Entry& entry = *idle_.back();
  idle_.pop_back();
  entry.set_command(tlm::TLM_IGNORE_COMMAND);
  entry.set_address(0);
  entry.set_data_ptr(nullptr);
  entry.set_data_length(0);
  entry.set_streaming_width(0);
  entry.set_byte_enable_ptr(nullptr);
  entry.set_byte_enable_length(0);
  entry.set_dmi_allowed(false);
  entry.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  entry.attributes.reset();
  entry.tlm::tlm_generic_payload::acquire();
  return entry;
}

void PayloadPool::free(tlm::tlm_generic_payload* payload) {
  payload->reset();
  idle_.push_back(static_cast<Entry*>(payload));
}

}  // namespace lacuna
