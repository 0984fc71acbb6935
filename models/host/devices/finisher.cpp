#include "models/host/devices/finisher.h"

#include <spdlog/spdlog.h>

#include "models/common/config/guest_mistake.h"
#include "models/common/time/tlm_time.h"

namespace lacuna {
namespace {

constexpr std::uint32_t kPass = 0x5555;
constexpr std::uint32_t kFail = 0x3333;
constexpr std::uint32_t kReset = 0x7777;

}  // namespace

Finisher::Finisher(sc_core::sc_module_name module_name, const MmioParameters& parameters)
    : MmioPeripheral(module_name, parameters, Bytes{0x1000}) {
  add_register({.name = "finish", .offset = 0, .width = 4});
}

std::uint64_t Finisher::read_register(const RegisterAccess&) { return value_; }

void Finisher::write_register(const RegisterAccess& access, std::uint64_t value) {
  value_ = static_cast<std::uint32_t>(value);
  if (access.debug) return;
  const std::uint32_t command = value_ & 0xffff;
  const int code = static_cast<int>(value_ >> 16);
  if (command != kPass && command != kFail && command != kReset) {
    guest_warning("unknown finisher commands", "{}: command {:#x} is not known (0x5555 pass, 0x3333 fail, 0x7777 reset)",
                  name(), command);
    return;
  }
  const int exit_code = command == kFail ? (code == 0 ? 1 : code) : 0;
  spdlog::info("{}: exit code {} at {} ps", name(), exit_code, access.at.ps);
  if (on_exit_) on_exit_(exit_code);
}

}  // namespace lacuna
