#include "models/common/transport/mmio_peripheral.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "models/common/config/guest_mistake.h"
#include "models/common/time/tlm_time.h"
#include "models/common/transport/line_change.h"

namespace lacuna {
namespace {

const char* reason(tlm::tlm_response_status status) {
  switch (status) {
    case tlm::TLM_ADDRESS_ERROR_RESPONSE:
      return "no register there";
    case tlm::TLM_BURST_ERROR_RESPONSE:
      return "wrong width or alignment";
    case tlm::TLM_COMMAND_ERROR_RESPONSE:
      return "not allowed by the register";
    case tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE:
      return "byte enables are not supported";
    default:
      return "malformed transaction";
  }
}

}  // namespace

void MmioParameters::describe(ParameterSection& section) {
  section.add("clock", clock, "Clock of the register interface", {.range = {1, 1e12}});
  section.add("read_latency", read_latency, "Time of a register read", {.range = {0, 1e6}});
  section.add("write_latency", write_latency, "Time of a register write", {.range = {0, 1e6}});
}

MmioPeripheral::MmioPeripheral(sc_core::sc_module_name module_name, const MmioParameters& parameters, Bytes size)
    : sc_module(module_name),
      bus("bus"),
      read_latency_(Clock(parameters.clock).ticks(parameters.read_latency)),
      write_latency_(Clock(parameters.clock).ticks(parameters.write_latency)),
      size_(size) {
  bus.register_b_transport(this, &MmioPeripheral::b_transport);
  bus.register_transport_dbg(this, &MmioPeripheral::transport_dbg);
}

unsigned MmioPeripheral::add_register(MmioRegister reg) {
  const std::string where = std::string(name()) + ": register " + reg.name;
  if (reg.stride == 0) reg.stride = reg.width;
  if (reg.width != 1 && reg.width != 2 && reg.width != 4 && reg.width != 8) {
    throw std::invalid_argument(where + " has width " + std::to_string(reg.width));
  }
  if (reg.offset % reg.width != 0 || reg.stride % reg.width != 0 || reg.stride < reg.width || reg.count == 0) {
    throw std::invalid_argument(where + " is misaligned or empty");
  }
  const Place place{reg.offset, reg.offset + reg.stride * (reg.count - 1) + reg.width,
                    static_cast<unsigned>(registers_.size())};
  if (place.end > size_.n) throw std::invalid_argument(where + " lies outside the device");
  const auto next = std::lower_bound(places_.begin(), places_.end(), place.begin,
                                     [](const Place& p, std::uint64_t offset) { return p.begin < offset; });
  if ((next != places_.end() && next->begin < place.end) || (next != places_.begin() && std::prev(next)->end > place.begin)) {
    throw std::invalid_argument(where + " overlaps another register");
  }
  places_.insert(next, place);
  reg.id = place.index;
  registers_.push_back(std::move(reg));
  return place.index;
}

MmioPeripheral::Decoded MmioPeripheral::decode(const tlm::tlm_generic_payload& payload) const {
  Decoded decoded;
  const std::uint64_t offset = payload.get_address();
  const std::uint64_t length = payload.get_data_length();
  const auto refuse = [&decoded](tlm::tlm_response_status status) {
    decoded.status = status;
    return decoded;
  };
  if (payload.get_data_ptr() == nullptr || length == 0) return refuse(tlm::TLM_GENERIC_ERROR_RESPONSE);
  if (offset >= size_.n || length > size_.n - offset) return refuse(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  if (payload.get_byte_enable_ptr() != nullptr) return refuse(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  if (payload.get_streaming_width() < length) return refuse(tlm::TLM_BURST_ERROR_RESPONSE);

  auto place =
      std::upper_bound(places_.begin(), places_.end(), offset, [](std::uint64_t o, const Place& p) { return o < p.begin; });
  if (place == places_.begin() || (--place)->end <= offset) return refuse(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  const MmioRegister& reg = registers_[place->index];
  const std::uint64_t within = (offset - place->begin) % reg.stride;
  if (within >= reg.width) return refuse(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  decoded.reg = &reg;
  decoded.element = static_cast<unsigned>((offset - place->begin) / reg.stride);
  const bool whole = length == reg.width && within == 0;
  const bool half = reg.halves && reg.width == 8 && length == 4 && within % 4 == 0;
  if (!whole && !half) return refuse(tlm::TLM_BURST_ERROR_RESPONSE);
  decoded.half = within == 4 ? 1 : 0;
  if ((payload.is_read() && reg.mode == RegisterMode::write_only) ||
      (payload.is_write() && reg.mode == RegisterMode::read_only)) {
    return refuse(tlm::TLM_COMMAND_ERROR_RESPONSE);
  }
  return decoded;
}

void MmioPeripheral::perform(const Decoded& decoded, tlm::tlm_generic_payload& payload, Tick at, bool debug) {
  const RegisterAccess access{*decoded.reg, decoded.element, at, debug};
  const unsigned length = payload.get_data_length();
  const unsigned shift = decoded.half * 32;
  if (payload.is_read()) {
    const std::uint64_t value = read_register(access) >> shift;
    std::memcpy(payload.get_data_ptr(), &value, length);
  } else if (payload.is_write()) {
    std::uint64_t value = 0;
    std::memcpy(&value, payload.get_data_ptr(), length);
    if (length < decoded.reg->width) {
      const std::uint64_t kept = read_register({*decoded.reg, decoded.element, at, true});
      value = (kept & ~(std::uint64_t{0xffffffff} << shift)) | value << shift;
    }
    write_register(access, value);
  }
}

void MmioPeripheral::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const Decoded decoded = decode(payload);
  delay += to_sc_time(payload.is_write() ? write_latency_ : read_latency_);
  if (decoded.status == tlm::TLM_OK_RESPONSE) {
    line_changed_ = false;
    perform(decoded, payload, local_time(delay), false);
    if (line_changed_) {
      if (auto* const line = payload.get_extension<LineChange>()) line->changed = true;
    }
  } else {
    log_refusal(payload, decoded);
  }
  payload.set_response_status(decoded.status);
}

unsigned MmioPeripheral::transport_dbg(tlm::tlm_generic_payload& payload) {
  const Decoded decoded = decode(payload);
  payload.set_response_status(decoded.status);
  if (decoded.status != tlm::TLM_OK_RESPONSE) return 0;
  perform(decoded, payload, kernel_time(), true);
  return payload.get_data_length();
}

void MmioPeripheral::log_refusal(const tlm::tlm_generic_payload& payload, const Decoded& decoded) const {
  const std::uint64_t offset = payload.get_address();
  const MmioRegister* nearest = decoded.reg;
  if (nearest == nullptr && !places_.empty()) {
    const auto distance = [offset](const Place& p) {
      return offset < p.begin ? p.begin - offset : offset >= p.end ? offset - p.end + 1 : std::uint64_t{0};
    };
    const auto place = std::min_element(places_.begin(), places_.end(),
                                        [&](const Place& a, const Place& b) { return distance(a) < distance(b); });
    nearest = &registers_[place->index];
  }
  guest_warning("refused register accesses",
                "{}: {} of {} bytes at offset {:#x} refused: {} (nearest register: {} at {:#x}, {} bytes)", name(),
                payload.is_write() ? "write" : "read", payload.get_data_length(), offset, reason(decoded.status),
                nearest != nullptr ? nearest->name : "none", nearest != nullptr ? nearest->offset : 0,
                nearest != nullptr ? nearest->width : 0);
}

}  // namespace lacuna
