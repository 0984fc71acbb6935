// Architectural state of a wavefront, and the events that executing an instruction can raise. Owned by a compute unit or by a
// test.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "models/isa/decode/instruction.h"
#include "models/isa/memory/memory_interface.h"
#include "models/isa/memory/store_buffer.h"
#include "models/isa/target.h"

namespace lacuna::isa {

/// Scalar operand encodings that are registers: the index into Wavefront::sgpr (GCN3 ISA manual, table "Scalar operands").
/// FLAT_SCRATCH and XNACK_MASK have the same encodings on gfx803 and gfx9.
enum SpecialRegister : unsigned {
  kFlatScratchLo = 102,
  kFlatScratchHi = 103,
  kXnackMaskLo = 104,
  kXnackMaskHi = 105,
  kVccLo = 106,
  kVccHi = 107,
  kTbaLo = 108,  ///< kTbaLo to kTmaHi are ttmp0 to ttmp3 on gfx9
  kTbaHi = 109,
  kTmaLo = 110,
  kTmaHi = 111,
  kM0 = 124,
  kExecLo = 126,
  kExecHi = 127,
};

/// Action that the last executed instruction requires. Set by the executor, cleared by the caller that has handled it.
enum class Event : std::uint8_t {
  none,
  end_program,       ///< s_endpgm(_saved), s_setkill 1
  barrier,           ///< s_barrier
  wait_count,        ///< s_waitcnt: event_value = SIMM16
  wait_states,       ///< s_nop of more than one wait state: event_value = number of wait states beyond the first
  sleep,             ///< s_sleep: event_value = requested cycles
  message,           ///< s_sendmsg: event_value = SIMM16 (and kMessageThenHalt), M0 holds the payload
  halt,              ///< s_sethalt 1
  trap,              ///< s_trap: event_value = trap id
  wave_sync,         ///< ds_gws_*: see wave_sync_request()
  cache_invalidate,  ///< s_dcache_inv(_vol), s_dcache_wb(_vol), buffer_wbinvl1(_vol), buffer_wbl2, buffer_invl2, s_icache_inv:
                     ///< the row, not MemoryAccess, distinguishes them
  memory_fault,      ///< described by `fault`
  fine_grained_float_atomic,  ///< event_value = number of fine-grained lanes, `fault` describes the first; the wavefront
                              ///< continues
  illegal_instruction,
  arithmetic_exception,
};

inline constexpr std::uint32_t kMessageThenHalt = 1U << 16;  ///< s_sendmsghalt
/// The trap of llvm.debugtrap. Without a debugger the trap handler returns from it immediately (LLVM, "User Guide for AMDGPU
/// Backend", Trap Handler ABI).
inline constexpr std::uint32_t kDebugTrap = 3;

struct MemoryFault {
  enum class Reason : std::uint8_t { not_mapped, not_permitted, misaligned, lds_out_of_range, private_out_of_range };
  Reason reason = Reason::not_mapped;
  Access wanted = Access::read;
  unsigned lane = 0;          ///< 0 for scalar accesses
  std::uint64_t address = 0;  ///< private_out_of_range: signed, relative to the start of the lane's private memory
  unsigned bytes = 0;
};

/// Memory of a wavefront's private segment. The hardware does not check a lane's accesses to it, except by FLAT on gfx8: an
/// access beyond the lane's part reaches other lanes and wavefronts.
struct PrivateSegment {
  std::uint64_t pool = 0;        ///< GPU virtual address of the queue's scratch memory
  std::uint64_t pool_bytes = 0;  ///< 0: there is none
  std::uint64_t base = 0;        ///< GPU virtual address of this wavefront's part
  std::uint32_t lane_bytes = 0;  ///< size that the dispatch has requested

  /// Whether a buffer at `address` is in the segment's pool.
  bool is_behind(std::uint64_t address) const { return address - pool < pool_bytes; }
  /// Whether a lane's access leaves its part; `offset`: distance from the part's start, as a signed number.
  bool exceeded(std::uint64_t offset, unsigned bytes) const { return lane_bytes < bytes || offset > lane_bytes - bytes; }
};

/// The MODE register (GCN3 ISA manual, "MODE register").
struct Mode {
  std::uint32_t bits = 0;
  unsigned round_f32() const { return bits & 3; }  ///< 0 nearest even, 1 +inf, 2 -inf, 3 toward zero
  unsigned round_f64_f16() const { return (bits >> 2) & 3; }
  bool denorm_in_f32() const { return (bits >> 4) & 1; }  ///< bit set: denormal inputs are kept
  bool denorm_out_f32() const { return (bits >> 5) & 1; }
  bool denorm_in_f64_f16() const { return (bits >> 6) & 1; }
  bool denorm_out_f64_f16() const { return (bits >> 7) & 1; }
  bool dx10_clamp() const { return (bits >> 8) & 1; }
  bool ieee() const { return (bits >> 9) & 1; }
  bool gpr_index_enabled() const { return (bits >> 27) & 1; }
  void enable_gpr_index(bool on) { bits = (bits & ~(1U << 27)) | (on ? 1U << 27 : 0U); }
  bool skips_vector() const { return (bits >> 28) & 1; }  ///< VSKIP
  void skip_vector(bool on) { bits = (bits & ~(1U << 28)) | (on ? 1U << 28 : 0U); }
  /// Whether vector instructions are skipped or use VGPR indexing.
  bool alters_vector() const { return (bits >> 27 & 3) != 0; }
};

/// Result of lane_mask() if every lane is active.
alignas(64) inline constexpr std::array<std::uint32_t, kLanes> kEveryLane = [] {
  std::array<std::uint32_t, kLanes> mask{};
  mask.fill(~std::uint32_t{0});
  return mask;
}();

/// Registers of one wavefront, and pointers to state that it shares with other wavefronts. Layout:
/// models/isa/detail/host_layout.h.
struct Wavefront {
  // -- registers
  std::uint32_t trap_status = 0;
  std::uint32_t status = 0;
  std::uint32_t hw_id = 0;  ///< value of HW_ID that s_getreg reads: wave, SIMD, CU, SH, SE
  Target target = Target::gfx803;
  /// Scalar registers, indexed by operand encoding 0..127, including VCC, EXEC, M0, ...; see SpecialRegister.
  alignas(8) std::array<std::uint32_t, 128> sgpr{};
  /// Vector registers: register r, lane l is vgpr[r * kLanes + l]. Points into the SIMD's register file.
  std::uint32_t* vgpr = nullptr;
  /// gfx90a accumulation registers, same layout: the part of the wavefront's allocation from accum_offset on.
  std::uint32_t* agpr = nullptr;
  std::uint64_t pc = 0;     ///< while an instruction executes: address of the next instruction (as s_getpc returns it)
  unsigned vgpr_count = 0;  ///< allocated VGPRs; an instruction that names other VGPRs is illegal
  unsigned agpr_count = 0;
  unsigned sgpr_count = 0;
  Mode mode;
  bool scc = false;

  // -- report of the last instruction
  Event event = Event::none;
  std::uint32_t event_value = 0;
  MemoryAccess access;
  LaneAddresses* addresses = nullptr;  ///< must be set before a vector memory instruction executes

  // -- environment
  std::byte* lds = nullptr;  ///< LDS allocation of the workgroup
  std::uint32_t lds_bytes = 0;
  MemoryInterface* memory = nullptr;
  /// Buffer that receives stores and that loads search first; null: loads and stores access memory. With a buffer, atomic
  /// operations, and accesses to lines with a pending atomic operation, move no data when they execute: they are checked as
  /// usual, MemoryAccess::deferred is set, and the owner of the wavefront performs them after the buffer has been flushed
  /// (models/isa/memory/deferred_access.h).
  StoreBuffer* stores = nullptr;
  std::uint64_t shared_aperture = 0;   ///< base of the 4 GiB LDS window of FLAT addresses; 0 = none
  std::uint64_t private_aperture = 0;  ///< base of the 4 GiB scratch window of FLAT addresses; 0 = none
  /// gfx8: FLAT accesses to private memory go to scratch_base + FLAT_SCRATCH_HI * 256 + swizzled offset.
  std::uint64_t scratch_base = 0;  ///< GPU virtual address of this queue's scratch backing memory
  std::uint64_t clock = 0;         ///< value that s_memtime reads (core clock cycles); updated by the owner
  std::uint64_t real_time = 0;     ///< value that s_memrealtime reads (constant-rate reference counter)
  std::uint32_t sync_value = 0;    ///< operand of Event::wave_sync
  FineGrainedFloatAtomics fine_grained_float_atomics = FineGrainedFloatAtomics::apply;
  MemoryFault fault;
  /// Window cache for vector and scalar accesses: most instructions hit the same mapping again.
  MemoryWindow window;
  std::array<MemoryWindow, 3> older_windows{};  ///< previous windows, for kernels whose buffers are in several mappings
  std::uint64_t window_epoch = ~std::uint64_t{0};

  // -- EXEC expanded to one 32-bit mask per lane, so that vectorised loops can blend; see lane_mask()
  alignas(64) std::array<std::uint32_t, kLanes> lane_mask_words{};
  std::uint64_t lane_mask_of = 0;

  PrivateSegment private_segment;

  std::uint64_t read64(unsigned index) const { return std::uint64_t{sgpr[index]} | std::uint64_t{sgpr[index + 1]} << 32; }
  void write64(unsigned index, std::uint64_t value) {
    sgpr[index] = static_cast<std::uint32_t>(value);
    sgpr[index + 1] = static_cast<std::uint32_t>(value >> 32);
  }
  std::uint64_t exec() const { return read64(kExecLo); }
  void set_exec(std::uint64_t value) { write64(kExecLo, value); }
  std::uint64_t vcc() const { return read64(kVccLo); }
  void set_vcc(std::uint64_t value) { write64(kVccLo, value); }
  std::uint32_t* v(unsigned index) { return vgpr + static_cast<std::size_t>(index) * kLanes; }
  /// First register of a VGPR or AGPR operand; its other registers follow.
  std::uint32_t* planes(const Operand& operand) {
    return (operand.kind == OperandKind::agpr ? agpr : vgpr) + static_cast<std::size_t>(operand.index) * kLanes;
  }

  /// All ones for active lanes, zero for inactive lanes; recomputed only when EXEC has changed.
  const std::uint32_t* lane_mask() {
    const std::uint64_t now = exec();
    if (now == ~std::uint64_t{0}) return kEveryLane.data();
    if (now != lane_mask_of) {
      for (unsigned l = 0; l < kLanes; ++l) lane_mask_words[l] = 0U - static_cast<std::uint32_t>((now >> l) & 1);
      lane_mask_of = now;
    }
    return lane_mask_words.data();
  }

  void raise(Event what, std::uint32_t value = 0) {
    event = what;
    event_value = value;
  }
};

}  // namespace lacuna::isa
