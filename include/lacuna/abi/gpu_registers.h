/* MMIO registers of the GPU: the single list used by the model, the firmware's HAL and docs/reference/memory-map.md.
 *
 * C and C++. All registers are 32 bits wide and accessed as aligned 32-bit words; *_LO/_HI pairs form 64-bit values. Writable
 * pairs take effect only when a COMMAND register is written. Doorbells are 64-bit. LACUNA_GPU_REGISTERS(X): X(name, offset,
 * access, reset, description), access one of RO, RW, W1C, WO. */
#ifndef LACUNA_GPU_REGISTERS_H
#define LACUNA_GPU_REGISTERS_H

#define LACUNA_GPU_MAGIC_VALUE 0x4155434cu   /* "LCUA" read as little-endian text: 'L','C','U','A' */
#define LACUNA_GPU_VERSION_VALUE 0x00010000u /* interface version, major << 16 | minor */

#define LACUNA_GPU_REGISTERS(X)                                                                                           \
  X(MAGIC, 0x000, RO, LACUNA_GPU_MAGIC_VALUE, "identifies the device")                                                    \
  X(VERSION, 0x004, RO, LACUNA_GPU_VERSION_VALUE, "interface version, major << 16 | minor")                               \
  X(TARGET, 0x008, RO, 0, "instruction set: major << 16 | minor << 8 | stepping (gfx803 = 0x080003, gfx90a = 0x09000a)")  \
  X(SHADER_ARRAYS, 0x00c, RO, 0, "number of shader arrays")                                                               \
  X(COMPUTE_UNITS, 0x010, RO, 0, "number of compute units, all shader arrays together")                                   \
  X(SIMDS_PER_CU, 0x014, RO, 0, "SIMDs of a compute unit")                                                                \
  X(WAVEFRONTS_PER_SIMD, 0x018, RO, 0, "wavefront slots of a SIMD")                                                       \
  X(WAVEFRONT_SIZE, 0x01c, RO, 64, "lanes of a wavefront")                                                                \
  X(VGPRS_PER_SIMD, 0x020, RO, 0, "vector registers of a SIMD, each 64 lanes x 32 bits")                                  \
  X(SGPRS_PER_SIMD, 0x024, RO, 0, "scalar registers of a SIMD")                                                           \
  X(LDS_BYTES_PER_CU, 0x028, RO, 0, "local data share of a compute unit, bytes")                                          \
  X(QUEUE_SLOTS, 0x02c, RO, 0, "hardware queue slots")                                                                    \
  X(VRAM_BASE_LO, 0x030, RO, 0, "bus address of GPU memory, bits 31:0")                                                   \
  X(VRAM_BASE_HI, 0x034, RO, 0, "bus address of GPU memory, bits 63:32")                                                  \
  X(VRAM_SIZE_LO, 0x038, RO, 0, "bytes of GPU memory, bits 31:0")                                                         \
  X(VRAM_SIZE_HI, 0x03c, RO, 0, "bytes of GPU memory, bits 63:32")                                                        \
  X(CORE_CLOCK_KHZ, 0x040, RO, 0, "core clock, kHz")                                                                      \
  X(TIMESTAMP_HZ, 0x044, RO, 0, "rate of the timestamp counter and of signal time stamps, Hz")                            \
  X(TIMESTAMP_LO, 0x048, RO, 0, "timestamp counter, bits 31:0; reading it latches the high half")                         \
  X(TIMESTAMP_HI, 0x04c, RO, 0, "timestamp counter, bits 63:32, as latched")                                              \
  X(CONTROL, 0x080, RW, 0, "bit 0: 1 = reset the device (self-clearing): queues inactive, GPUVM empty, interrupts clear") \
  X(INTERRUPT_STATUS, 0x100, W1C, 0, "pending interrupts, LACUNA_INTERRUPT_*; write 1 to clear")                          \
  X(INTERRUPT_ENABLE, 0x104, RW, 0, "interrupts that drive the interrupt line, LACUNA_INTERRUPT_*")                       \
  X(FAULT_STATUS, 0x120, RO, 0, "last memory fault or exception: LACUNA_FAULT_*; 0 = none since reset")                   \
  X(FAULT_QUEUE, 0x124, RO, 0, "queue slot of the last fault")                                                            \
  X(FAULT_ADDRESS_LO, 0x128, RO, 0, "faulting GPU virtual address, bits 31:0")                                            \
  X(FAULT_ADDRESS_HI, 0x12c, RO, 0, "faulting GPU virtual address, bits 63:32")                                           \
  X(FAULT_PC_LO, 0x130, RO, 0, "PC of the faulting instruction, bits 31:0; 0 when the command processor faulted")         \
  X(FAULT_PC_HI, 0x134, RO, 0, "PC of the faulting instruction, bits 63:32")                                              \
  X(VM_VA_LO, 0x200, RW, 0, "GPUVM: GPU virtual address, bits 31:0; 4 KiB aligned")                                       \
  X(VM_VA_HI, 0x204, RW, 0, "GPUVM: GPU virtual address, bits 63:32")                                                     \
  X(VM_PA_LO, 0x208, RW, 0, "GPUVM: bus address, bits 31:0; 4 KiB aligned")                                               \
  X(VM_PA_HI, 0x20c, RW, 0, "GPUVM: bus address, bits 63:32")                                                             \
  X(VM_SIZE_LO, 0x210, RW, 0, "GPUVM: bytes, bits 31:0; multiple of 4 KiB")                                               \
  X(VM_SIZE_HI, 0x214, RW, 0, "GPUVM: bytes, bits 63:32")                                                                 \
  X(VM_FLAGS, 0x218, RW, 0, "GPUVM: LACUNA_VM_READ | WRITE | EXECUTE | FINE_GRAINED")                                     \
  X(VM_COMMAND, 0x21c, WO, 0, "GPUVM: LACUNA_VM_MAP or LACUNA_VM_UNMAP the range")                                        \
  X(VM_STATUS, 0x220, RO, 0, "GPUVM: result of the last command, LACUNA_VM_*")                                            \
  X(SHARED_APERTURE_HI, 0x240, RW, 0x20000000, "bits 63:32 of the LDS window of flat addresses (4 GiB)")                  \
  X(PRIVATE_APERTURE_HI, 0x244, RW, 0x20010000, "bits 63:32 of the scratch window of flat addresses (4 GiB)")             \
  X(QUEUE_SELECT, 0x300, RW, 0, "queue slot that the QUEUE_* registers below refer to")                                   \
  X(QUEUE_AQL_LO, 0x304, RW, 0, "GPU virtual address of the slot's amd_queue_t, bits 31:0; 64-byte aligned")              \
  X(QUEUE_AQL_HI, 0x308, RW, 0, "GPU virtual address of the slot's amd_queue_t, bits 63:32")                              \
  X(QUEUE_COMMAND, 0x30c, WO, 0, "LACUNA_QUEUE_CREATE, _DESTROY on the selected slot")                                    \
  X(QUEUE_STATUS, 0x310, RO, 0, "state of the selected slot: LACUNA_QUEUE_INACTIVE, _ACTIVE, _FAILED")                    \
  X(QUEUE_ERROR, 0x314, RO, 0, "why the selected slot failed or the last command was refused: LACUNA_QUEUE_ERROR_*")      \
  X(QUEUE_ERROR_PACKET_LO, 0x318, RO, 0, "packet index at which the slot failed, bits 31:0")                              \
  X(QUEUE_ERROR_PACKET_HI, 0x31c, RO, 0, "packet index at which the slot failed, bits 63:32")                             \
  X(SIDA_PES, 0x400, RO, 0, "sparse dataflow accelerator: processing elements of a core; 0 = the device has none")        \
  X(SIDA_VERSION, 0x404, RO, 0, "version of the programs that it runs, LACUNA_SIDA_VERSION")                              \
  X(SIDA_BUFFER_LO, 0x408, RO, 0, "bytes of its buffer, bits 31:0")                                                       \
  X(SIDA_BUFFER_HI, 0x40c, RO, 0, "bytes of its buffer, bits 63:32")                                                      \
  X(SIDA_STATE, 0x410, RO, 0, "LACUNA_SIDA_IDLE or LACUNA_SIDA_BUSY")                                                     \
  X(SIDA_PASS, 0x414, RO, 0, "number of the pass that runs, or of the last one")                                          \
  X(SIDA_STEP, 0x418, RO, 0, "step of that pass")                                                                         \
  X(SIDA_PROGRAM_LO, 0x41c, RO, 0, "GPU virtual address of the program that runs, or of the last one, bits 31:0")         \
  X(SIDA_PROGRAM_HI, 0x420, RO, 0, "likewise, bits 63:32")                                                                \
  X(SIDA_JOBS, 0x424, RO, 0, "jobs that have ended since reset, modulo 2^32")                                             \
  X(SIDA_PASSES, 0x428, RO, 0, "passes that have ended since reset, modulo 2^32")                                         \
  X(SIDA_ERROR, 0x42c, RO, 0, "LACUNA_SIDA_ERROR_* of the last job that failed; 0 = none since reset")                    \
  X(SIDA_ERROR_ADDRESS_LO, 0x430, RO, 0, "GPU virtual address of what was wrong, bits 31:0; 0 = none")                    \
  X(SIDA_ERROR_ADDRESS_HI, 0x434, RO, 0, "likewise, bits 63:32")

/* Doorbell of slot q: a 64-bit store of the index of the last packet written (HSA doorbell signal value). */
#define LACUNA_DOORBELL_OFFSET 0x1000u
#define LACUNA_DOORBELL_STRIDE 8u
#define LACUNA_GPU_REGISTER_SPACE 0x2000u

#define LACUNA_INTERRUPT_SIGNAL (1u << 0) /* a completion signal with an event was decremented */
#define LACUNA_INTERRUPT_QUEUE_ERROR (1u << 1)
#define LACUNA_INTERRUPT_MEMORY_FAULT (1u << 2)

#define LACUNA_FAULT_NONE 0u
#define LACUNA_FAULT_NOT_MAPPED 1u
#define LACUNA_FAULT_NOT_PERMITTED 2u
#define LACUNA_FAULT_MISALIGNED 3u
#define LACUNA_FAULT_LDS_RANGE 4u
#define LACUNA_FAULT_ILLEGAL_INSTRUCTION 5u
#define LACUNA_FAULT_TRAP 6u
#define LACUNA_FAULT_FETCH 7u
#define LACUNA_FAULT_PRIVATE_RANGE 8u /* address is a signed offset from the start of the lane's private memory */

#define LACUNA_VM_READ 1u
#define LACUNA_VM_WRITE 2u
#define LACUNA_VM_EXECUTE 4u
#define LACUNA_VM_FINE_GRAINED 8u /* not cached in L2; MI200 loses float atomics on such memory */
#define LACUNA_VM_MAP 1u
#define LACUNA_VM_UNMAP 2u
#define LACUNA_VM_OK 0u
#define LACUNA_VM_MISALIGNED 1u
#define LACUNA_VM_OVERLAP 2u     /* part of the range is already mapped */
#define LACUNA_VM_NOT_MAPPED 3u  /* unmap of a range that is not entirely mapped */
#define LACUNA_VM_BAD_ADDRESS 4u /* no memory at the bus address */

#define LACUNA_QUEUE_CREATE 1u
#define LACUNA_QUEUE_DESTROY 2u
#define LACUNA_QUEUE_INACTIVE 0u
#define LACUNA_QUEUE_ACTIVE 1u
#define LACUNA_QUEUE_FAILED 2u

#define LACUNA_QUEUE_ERROR_NONE 0u
#define LACUNA_QUEUE_ERROR_SLOT 1u       /* no such slot, or the slot is in use / not in use */
#define LACUNA_QUEUE_ERROR_DESCRIPTOR 2u /* amd_queue_t unmapped, misaligned, or size not a power of two */
#define LACUNA_QUEUE_ERROR_OVERFLOW 3u   /* write index - read index > size */
#define LACUNA_QUEUE_ERROR_PACKET_TYPE 4u
#define LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS 5u /* setup, grid or workgroup size */
#define LACUNA_QUEUE_ERROR_PACKET_SEGMENT 6u    /* more LDS or scratch than the device has */
#define LACUNA_QUEUE_ERROR_KERNEL_OBJECT 7u     /* unmapped, misaligned, or a descriptor that the device cannot run */
#define LACUNA_QUEUE_ERROR_MEMORY_FAULT 8u      /* a wavefront or the packet processor touched unmapped memory */
#define LACUNA_QUEUE_ERROR_ILLEGAL_INSTRUCTION 9u
#define LACUNA_QUEUE_ERROR_TRAP 10u
#define LACUNA_QUEUE_ERROR_SIGNAL 11u /* a signal handle that is unmapped or misaligned */
#define LACUNA_QUEUE_ERROR_SIDA 12u   /* a job of the sparse dataflow accelerator failed: SIDA_ERROR has the reason */

/* Registers from SIDA_PES on belong to the sparse dataflow accelerator. */
#define LACUNA_SIDA_IDLE 0u
#define LACUNA_SIDA_BUSY 1u

#define LACUNA_GPU_REGISTER_OFFSET(name, offset, access, reset, description) LACUNA_GPU_##name = (offset),
enum lacuna_gpu_register { LACUNA_GPU_REGISTERS(LACUNA_GPU_REGISTER_OFFSET) LACUNA_GPU_REGISTER_END };
#undef LACUNA_GPU_REGISTER_OFFSET

#endif
