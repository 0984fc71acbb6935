// The platform: a hart with its memory and devices, and the GPU on the same bus.
//
//   Hart ------- HostBus --+-- RAM, CLINT, PLIC, UART, finisher
//   GpuDevice ----'        +-- GPU registers and doorbells, GPU memory (aperture)
//   CLINT (timer, software) -> Hart; UART, GPU -> PLIC -> Hart
// Addresses are those of include/lacuna/abi/memory_map.h.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <systemc>

#include "models/common/config/statistics.h"
#include "models/common/transport/backing_store.h"
#include "models/gpu/gpu_device.h"
#include "models/host/devices/guest_file.h"
#include "platform/loaders/elf_file.h"
#include "platform/platform_parameters.h"

namespace lacuna {

/// Characters to and from the guest by UART, semihosting and HTIF.
struct PlatformConsole {
  std::function<void(std::string_view bytes)> write;
  /// Returns the next byte of input; -1 = none yet, which semihosting and HTIF treat as the end of the input.
  std::function<int()> read;
};

class Platform : public sc_core::sc_module {
 public:
  Platform(sc_core::sc_module_name module_name, const PlatformParameters& parameters, bool with_gpu,
           const PlatformConsole& console);

  /// Copies the program into RAM, sets the reset PC, attaches HTIF if the program has a mailbox, and semihosting with
  /// `command_line` and files that the simulator provides. Throws ElfError if the program is not for this hart or does not fit
  /// into RAM.
  void load(const ElfFile& program, const std::string& command_line, const GuestFileProvider& files = {});

  /// Closes the guest's files, removes unfinished files, and ends the platform's threads. Necessary even if the process ends
  /// without destroying the platform. Nothing may be simulated afterwards.
  void shut_down() {
    hart_.detach_semihosting();
    threads_.reset();
  }

  Hart& hart() { return hart_; }
  const Hart& hart() const { return hart_; }
  /// The GPU; nullptr if the platform has none.
  GpuDevice* gpu() { return gpu_.get(); }

  /// Whether the guest has exited; exit_code() is then the guest's exit code, mapped to an exit code of the process.
  bool ended() const { return ended_; }
  int exit_code() const { return exit_code_; }

  /// A number that increases while the guest makes progress.
  std::uint64_t progress() const;
  /// Whether the hart has enabled the timer interrupt and the timer will raise it at a later time.
  bool timer_armed() const;
  /// Lists what each component is waiting for, one line each.
  void diagnose(std::ostream& out) const;
  void describe_statistics(StatisticsGroup& root) const;

 private:
  using Line = sc_core::sc_signal<bool>;

  void wire_interrupts();
  void map_devices();
  void connect_console(const PlatformConsole& console);
  void end(int code);

  const PlatformParameters parameters_;
  BackingStore ram_store_;
  Hart hart_;
  HostBus bus_;
  Ram ram_;
  Clint clint_;
  Plic plic_;
  Uart uart_;
  Finisher finisher_;
  std::unique_ptr<WorkerThreads> threads_;
  std::unique_ptr<GpuDevice> gpu_;
  std::unique_ptr<Ram> vram_aperture_;

  Line timer_line_;
  Line software_line_;
  Line external_line_;
  Line uart_line_;
  Line gpu_line_;

  bool ended_ = false;
  int exit_code_ = 0;
};

}  // namespace lacuna
