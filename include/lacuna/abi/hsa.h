// HSA structures that the command processor reads from and writes to memory.
//
// Sources: HSA Platform System Architecture 1.2 (AQL packets, signals, queues), LLVM "User Guide for AMDGPU Backend" (kernel
// descriptor, initial register state), and the public amd_hsa_queue.h / amd_hsa_signal.h layouts. All little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lacuna::hsa {

inline constexpr std::uint32_t kPacketBytes = 64;

enum class PacketType : std::uint8_t {
  vendor_specific = 0,
  invalid = 1,
  kernel_dispatch = 2,
  barrier_and = 3,
  agent_dispatch = 4,
  barrier_or = 5
};
enum class FenceScope : std::uint8_t { none = 0, agent = 1, system = 2 };

/// The 16-bit header common to all AQL packets.
struct PacketHeader {
  std::uint16_t bits = 0;
  PacketType type() const { return static_cast<PacketType>(bits & 0xff); }
  bool barrier() const { return (bits >> 8) & 1; }
  FenceScope acquire() const { return static_cast<FenceScope>((bits >> 9) & 3); }
  FenceScope release() const { return static_cast<FenceScope>((bits >> 11) & 3); }
  /// A header with system-scope acquire and release fences.
  static constexpr PacketHeader of(PacketType type, bool barrier = false) {
    constexpr unsigned kFences = static_cast<unsigned>(FenceScope::system) << 9 | static_cast<unsigned>(FenceScope::system)
                                                                                      << 11;
    return {static_cast<std::uint16_t>(static_cast<unsigned>(type) | (barrier ? 1U << 8 : 0U) | kFences)};
  }
};

struct KernelDispatchPacket {
  std::uint16_t header;
  std::uint16_t setup;  ///< bits 1:0 = dimensions, 1 to 3
  std::uint16_t workgroup_size[3];
  std::uint16_t reserved0;
  std::uint32_t grid_size[3];  ///< work-items
  std::uint32_t private_segment_size;
  std::uint32_t group_segment_size;
  std::uint64_t kernel_object;
  std::uint64_t kernarg_address;
  std::uint64_t reserved2;
  std::uint64_t completion_signal;
};
static_assert(sizeof(KernelDispatchPacket) == kPacketBytes);

struct BarrierPacket {
  std::uint16_t header;
  std::uint16_t reserved0;
  std::uint32_t reserved1;
  std::uint64_t dependencies[5];
  std::uint64_t reserved2;
  std::uint64_t completion_signal;
};
static_assert(sizeof(BarrierPacket) == kPacketBytes);

/// Bits 23:16 of a vendor-specific packet's first dword: the format of the rest of the packet.
enum class VendorFormat : std::uint8_t {
  pm4_indirect_buffer = 1,
  barrier_value = 2,
  sida_job = 128  ///< LACUNA_SIDA_PACKET_FORMAT of lacuna/abi/sida.h
};

enum class SignalCondition : std::uint32_t { equal = 0, not_equal = 1, less = 2, greater_equal = 3 };

/// hsa_amd_barrier_value_packet_t: waits until (signal value & mask) fulfils a condition.
struct BarrierValuePacket {
  std::uint16_t header;
  std::uint8_t format;
  std::uint8_t reserved0;
  std::uint32_t reserved1;
  std::uint64_t signal;  ///< 0: nothing to wait for
  std::int64_t value;
  std::int64_t mask;
  std::uint32_t condition;  ///< SignalCondition
  std::uint32_t reserved2;
  std::uint64_t reserved3[2];
  std::uint64_t completion_signal;
};
static_assert(sizeof(BarrierValuePacket) == kPacketBytes && offsetof(BarrierValuePacket, completion_signal) == 56);

/// amd_signal_t. A signal handle is the address of such a structure, 64-byte aligned.
struct Signal {
  std::int64_t kind;
  std::int64_t value;
  std::uint64_t event_mailbox;
  std::uint32_t event_id;
  std::uint32_t reserved1;
  std::uint64_t start_timestamp;
  std::uint64_t end_timestamp;
  std::uint64_t queue;
  std::uint32_t reserved3[2];
};
static_assert(sizeof(Signal) == 64 && offsetof(Signal, start_timestamp) == 32);

/// Bits of amd_queue_t.queue_properties.
inline constexpr std::uint32_t kUseScratchOnce = 1u << 4;

/// Requests that the packet processor makes to the runtime by storing them to the queue's inactive signal.
inline constexpr std::int64_t kScratchRequest = 1;    ///< the runtime updates the scratch fields of amd_queue_t, then stores 0
                                                      ///< to the signal
inline constexpr std::int64_t kScratchReclaim = 512;  ///< the runtime clears kUseScratchOnce

/// amd_queue_t, 256 bytes, 64-byte aligned.
struct Queue {
  std::uint32_t type;
  std::uint32_t features;
  std::uint64_t base_address;
  std::uint64_t doorbell_signal;
  std::uint32_t size;  ///< number of packets, a power of two
  std::uint32_t reserved1;
  std::uint64_t id;
  std::uint32_t reserved2[4];
  std::uint64_t write_dispatch_id;
  std::uint32_t group_segment_aperture_base_hi;
  std::uint32_t private_segment_aperture_base_hi;
  std::uint32_t max_cu_id;
  std::uint32_t max_wave_id;
  std::uint64_t max_legacy_doorbell_dispatch_id_plus_1;
  std::uint32_t legacy_doorbell_lock;
  std::uint32_t reserved3[9];
  std::uint64_t read_dispatch_id;
  std::uint32_t read_dispatch_id_field_base_byte_offset;
  std::uint32_t compute_tmpring_size;  ///< bits 11:0 waves, 24:12 bytes per wave in KiB
  std::uint32_t scratch_resource_descriptor[4];
  std::uint64_t scratch_backing_memory_location;
  std::uint64_t scratch_backing_memory_byte_size;
  std::uint32_t scratch_wave64_lane_byte_size;
  std::uint32_t queue_properties;
  std::uint32_t reserved4[2];
  std::uint64_t queue_inactive_signal;
  std::uint32_t reserved5[14];
};
static_assert(sizeof(Queue) == 256);
static_assert(offsetof(Queue, write_dispatch_id) == 56 && offsetof(Queue, read_dispatch_id) == 128);
static_assert(offsetof(Queue, compute_tmpring_size) == 140 && offsetof(Queue, scratch_resource_descriptor) == 144);
static_assert(offsetof(Queue, scratch_wave64_lane_byte_size) == 176 && offsetof(Queue, queue_inactive_signal) == 192);

/// Fields of a kernel object that the packet processor reads. Their offsets are the same in the 64-byte descriptor of code
/// object v3 and later and in v2's amd_kernel_code_t, so both are read alike.
struct KernelDescriptor {
  static constexpr std::uint64_t kAlignment = 64;
  static constexpr std::uint64_t kEntryAlignment = 256;  ///< required alignment of the first instruction
  static constexpr std::uint64_t kBytes = 64;

  std::uint32_t kernarg_bytes = 0;  ///< size of the arguments
  std::int64_t entry_offset = 0;    ///< first instruction's address minus the descriptor's
  std::uint32_t rsrc1 = 0;
  std::uint32_t rsrc2 = 0;
  std::uint32_t rsrc3 = 0;
  std::uint16_t properties = 0;

  /// `raw`: kBytes of memory at the kernel object.
  static KernelDescriptor read(const std::byte* raw) {
    KernelDescriptor d;
    std::memcpy(&d.kernarg_bytes, raw + 8, sizeof d.kernarg_bytes);
    std::memcpy(&d.entry_offset, raw + 16, sizeof d.entry_offset);
    std::memcpy(&d.rsrc3, raw + 44, sizeof d.rsrc3);
    std::memcpy(&d.rsrc1, raw + 48, sizeof d.rsrc1);
    std::memcpy(&d.rsrc2, raw + 52, sizeof d.rsrc2);
    std::memcpy(&d.properties, raw + 56, sizeof d.properties);
    return d;
  }

  // COMPUTE_PGM_RSRC1; isa::kernel_registers() decodes the register counts in it and in COMPUTE_PGM_RSRC3
  std::uint32_t float_mode() const { return (rsrc1 >> 12) & 0xff; }
  bool dx10_clamp() const { return (rsrc1 >> 21) & 1; }
  bool ieee_mode() const { return (rsrc1 >> 23) & 1; }
  bool fp16_overflow() const { return (rsrc1 >> 26) & 1; }  ///< gfx9 only
  // COMPUTE_PGM_RSRC2
  bool private_segment_wave_offset() const { return rsrc2 & 1; }
  unsigned user_sgprs() const { return (rsrc2 >> 1) & 0x1f; }
  bool workgroup_id(unsigned dimension) const { return (rsrc2 >> (7 + dimension)) & 1; }
  bool workgroup_info() const { return (rsrc2 >> 10) & 1; }
  /// ENABLE_VGPR_WORKITEM_ID. 0: x; 1: x and y; 2: x, y and z.
  unsigned work_item_ids() const { return (rsrc2 >> 11) & 3; }
  std::uint32_t exceptions() const { return (rsrc2 >> 24) & 0x7f; }
  // kernel code properties
  bool private_segment_buffer() const { return properties & 1; }
  bool dispatch_ptr() const { return (properties >> 1) & 1; }
  bool queue_ptr() const { return (properties >> 2) & 1; }
  bool kernarg_segment_ptr() const { return (properties >> 3) & 1; }
  bool dispatch_id() const { return (properties >> 4) & 1; }
  bool flat_scratch_init() const { return (properties >> 5) & 1; }
  bool private_segment_size() const { return (properties >> 6) & 1; }
  bool grid_workgroup_count(unsigned dimension) const { return (properties >> (7 + dimension)) & 1; }
};

}  // namespace lacuna::hsa
