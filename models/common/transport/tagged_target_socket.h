// A target socket whose callbacks receive a tag, for modules with many sockets that differ by a number.
//
// Like tlm_utils::simple_target_socket_tagged, but only for blocking initiators, as are all initiators of Lacuna. The socket of
// tlm_utils also converts non-blocking transport, with three events, a queue and a map, whose construction and naming take four
// fifths of that socket's construction time. A GPU has hundreds of sockets.
#pragma once

#include <systemc>
#include <tlm>

namespace lacuna {

template <class Module>
class TaggedTargetSocket : public tlm::tlm_target_socket<> {
 public:
  using BTransport = void (Module::*)(int tag, tlm::tlm_generic_payload&, sc_core::sc_time&);
  using TransportDebug = unsigned (Module::*)(int tag, tlm::tlm_generic_payload&);
  using GetDirectMemPtr = bool (Module::*)(int tag, tlm::tlm_generic_payload&, tlm::tlm_dmi&);

  explicit TaggedTargetSocket(const char* socket_name) : tlm::tlm_target_socket<>(socket_name), forward_(*this) {
    bind(forward_);
  }

  /// Registers the callback for blocking transport. Mandatory.
  void register_b_transport(Module* module, BTransport callback, int tag) {
    forward_.set_module(*module, tag);
    forward_.b_transport_callback = callback;
  }
  /// Optional; without this callback, debug accesses transfer no bytes.
  void register_transport_dbg(Module* module, TransportDebug callback, int tag) {
    forward_.set_module(*module, tag);
    forward_.transport_dbg_callback = callback;
  }
  /// Optional; without this callback, direct access is denied at all addresses.
  void register_get_direct_mem_ptr(Module* module, GetDirectMemPtr callback, int tag) {
    forward_.set_module(*module, tag);
    forward_.get_direct_mem_ptr_callback = callback;
  }

 private:
  class Forward : public tlm::tlm_fw_transport_if<> {
   public:
    explicit Forward(const TaggedTargetSocket& socket) : socket_(socket) {}

    void set_module(Module& module, int tag) {
      module_ = &module;
      tag_ = tag;
    }

    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
      if (b_transport_callback == nullptr) return refuse(payload, "has no b_transport");
      (module_->*b_transport_callback)(tag_, payload, delay);
    }
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&, sc_core::sc_time&) override {
      refuse(payload, "takes blocking transport only");
      return tlm::TLM_COMPLETED;
    }
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) override {
      return transport_dbg_callback == nullptr ? 0 : (module_->*transport_dbg_callback)(tag_, payload);
    }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override {
      if (get_direct_mem_ptr_callback != nullptr) return (module_->*get_direct_mem_ptr_callback)(tag_, payload, dmi);
      dmi.allow_none();
      dmi.set_start_address(0);
      dmi.set_end_address(~sc_dt::uint64{0});
      return false;
    }

    BTransport b_transport_callback = nullptr;
    TransportDebug transport_dbg_callback = nullptr;
    GetDirectMemPtr get_direct_mem_ptr_callback = nullptr;

   private:
    void refuse(tlm::tlm_generic_payload& payload, const char* reason) const {
      payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
      SC_REPORT_ERROR(socket_.name(), reason);
    }

    const TaggedTargetSocket& socket_;
    Module* module_ = nullptr;
    int tag_ = 0;
  };

  Forward forward_;
};

}  // namespace lacuna
