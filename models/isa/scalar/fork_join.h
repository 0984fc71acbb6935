// Divergent branches through a stack in SGPRs: s_cbranch_g_fork, s_cbranch_i_fork, s_cbranch_join (GCN3 ISA manual, "Branching"
// and the instructions' pseudocode). MODE[31:29] counts the entries, each of four SGPRs: EXEC, then PC.
#pragma once

#include <bit>
#include <cstdint>

#include "models/isa/wavefront.h"

namespace lacuna::isa {

inline constexpr unsigned kStackPointerShift = 29;
inline unsigned fork_stack_pointer(const Wavefront& w) { return w.mode.bits >> kStackPointerShift; }
inline void set_fork_stack_pointer(Wavefront& w, unsigned entries) {
  w.mode.bits = (w.mode.bits & ~(7U << kStackPointerShift)) | (entries & 7) << kStackPointerShift;
}

/// The active lanes in `pass` branch to `target`, the other active lanes continue. The smaller group executes first; the larger
/// group is pushed on the stack.
inline void fork(Wavefront& w, std::uint64_t pass, std::uint64_t target) {
  const std::uint64_t exec = w.exec();
  const std::uint64_t taken = pass & exec;
  const std::uint64_t fallen = ~pass & exec;
  if (taken == exec) {
    w.pc = target;
    return;
  }
  if (fallen == exec) return;
  const unsigned entry = fork_stack_pointer(w) * 4;
  const bool on_first = std::popcount(fallen) < std::popcount(taken);
  w.write64(entry, on_first ? taken : fallen);
  w.write64(entry + 2, on_first ? target : w.pc);
  set_fork_stack_pointer(w, fork_stack_pointer(w) + 1);
  w.set_exec(on_first ? fallen : taken);
  if (!on_first) w.pc = target;
}

/// Pops the top entry of the stack and continues with it; no effect if the stack has exactly `entries` entries.
inline void join(Wavefront& w, std::uint32_t entries) {
  const unsigned now = fork_stack_pointer(w);
  if (now == (entries & 7)) return;
  const unsigned next = (now - 1) & 7;
  set_fork_stack_pointer(w, next);
  w.set_exec(w.read64(next * 4));
  w.pc = w.read64(next * 4 + 2);
}

}  // namespace lacuna::isa
