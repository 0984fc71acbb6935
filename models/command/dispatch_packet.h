// Reads a kernel dispatch packet, its kernel descriptor and the queue's scratch set-up into a Dispatch. All errors of the
// packet are reported before it takes effect.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/command/blits.h"
#include "models/command/code_check.h"
#include "models/command/driver_events.h"
#include "models/command/kernel_symbols.h"
#include "models/command/packet_outcome.h"
#include "models/command/source_lines.h"
#include "models/compute/dispatch.h"
#include "models/isa/target.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

/// A further check of dispatches, in addition to that of the packet and its kernel descriptor.
class DispatchCheck {
 public:
  virtual ~DispatchCheck() = default;
  /// Returns the reason why a dispatch with a valid packet and kernel descriptor cannot run; nullopt: it can. Adds the objects
  /// that the packet processor must read for the dispatch to Dispatch::objects. May be called again for the same packet, with
  /// another Dispatch.
  virtual std::optional<std::string> refusal(Dispatch& dispatch) = 0;
};

class DispatchPacketReader {
 public:
  /// `blits` names kernels that have no name in their code object.
  DispatchPacketReader(const GpuVm& vm, isa::Target target, const isa::MatrixCodes& codes, const Blits& blits)
      : vm_(vm), target_(target), blits_(blits), symbols_(vm), code_check_(vm, target, codes) {}

  /// Sets the driver, which provides names of functions that are not in GPU memory.
  void set_driver_events(DriverEvents& driver) { driver_ = &driver; }
  /// Sets the source lines for place().
  void set_source_lines(const SourceLines& lines) { lines_ = &lines; }
  void add_check(DispatchCheck& check) { checks_.push_back(&check); }
  /// Position of `pc` in a dispatch's code, for reports: code_place(), and the source line if known.
  std::string place(const Dispatch& dispatch, std::uint64_t pc) const;

  /// Fills in a Dispatch whose packet, packet_index, packet_address and queue_address are set. Returns the packet's error, if
  /// any.
  std::optional<PacketRefusal> read(Dispatch& dispatch, const hsa::Queue& queue);

 private:
  static std::optional<PacketRefusal> read_size(Dispatch& dispatch);
  std::optional<PacketRefusal> read_kernel(Dispatch& dispatch);
  std::optional<PacketRefusal> read_scratch(Dispatch& dispatch, const hsa::Queue& queue) const;

  const GpuVm& vm_;
  isa::Target target_;
  const Blits& blits_;
  KernelSymbols symbols_;
  DriverEvents* driver_ = nullptr;
  const SourceLines* lines_ = nullptr;
  CodeCheck code_check_;
  std::vector<DispatchCheck*> checks_;
};

}  // namespace lacuna
