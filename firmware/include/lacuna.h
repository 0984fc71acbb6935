/* Driver library of the Lacuna GPU, for bare-metal programs on the RV64 host hart.
 *
 * Typical use:
 *   lacuna_device_open -> lacuna_code_object_load -> lacuna_kernel_find -> lacuna_allocate, lacuna_copy_to_device ->
 *   lacuna_queue_create -> lacuna_signal_create -> lacuna_dispatch -> lacuna_signal_wait -> lacuna_copy_from_device.
 *
 * Every function that can fail returns a lacuna_error; lacuna_last_error() returns a sentence that states the problem and its
 * location. The lists of errors below omit INVALID_ARGUMENT, and GPUVM of functions that allocate GPU memory. Output parameters
 * are not written on failure. The library is single-threaded: the only concurrency is its interrupt handler. Addresses named
 * gpu_address are GPU virtual addresses; the program uses `host` pointers to the same bytes.
 */
#ifndef LACUNA_H
#define LACUNA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------------------------- errors */

#define LACUNA_ERRORS(X)                                                                                  \
  X(OK, "no error")                                                                                       \
  X(ERROR_INVALID_ARGUMENT, "an argument is null, zero, misaligned or out of range")                      \
  X(ERROR_NO_DEVICE, "no Lacuna GPU answers at the address")                                              \
  X(ERROR_VERSION, "the device's interface version is not the driver's")                                  \
  X(ERROR_OUT_OF_HOST_MEMORY, "the host heap is exhausted")                                               \
  X(ERROR_OUT_OF_DEVICE_MEMORY, "no free range of GPU memory is large enough")                            \
  X(ERROR_NOT_ALLOCATED, "the address is not the start of an allocation or mapping")                      \
  X(ERROR_GPUVM, "the device refused to map or unmap a range")                                            \
  X(ERROR_INVALID_CODE_OBJECT, "the bytes are not a well-formed AMD GPU code object")                     \
  X(ERROR_INCOMPATIBLE_CODE_OBJECT, "the code object is for another instruction set, system or version")  \
  X(ERROR_NO_SUCH_KERNEL, "the code object holds no kernel of that name")                                 \
  X(ERROR_NO_FREE_SLOT, "all hardware queue slots are in use")                                            \
  X(ERROR_QUEUE_REFUSED, "the device refused to create or destroy the queue")                             \
  X(ERROR_QUEUE_FULL, "the queue has no free packet slot")                                                \
  X(ERROR_QUEUE_FAILED, "the queue stopped at a packet that the device could not process")                \
  X(ERROR_MEMORY_FAULT, "a kernel or the packet processor accessed memory that is not mapped for it")     \
  X(ERROR_EXCEPTION, "a kernel executed an illegal instruction, a trap or a bad access")                  \
  X(ERROR_SEGMENT_TOO_LARGE, "the kernel needs more scratch, LDS or kernel arguments than there is room") \
  X(ERROR_TIMEOUT, "the time limit passed before the condition came true")                                \
  X(ERROR_NO_ACCELERATOR, "the device has no sparse dataflow accelerator")

#define LACUNA_ERROR_ENUMERATOR(name, text) LACUNA_##name,
typedef enum lacuna_error { LACUNA_ERRORS(LACUNA_ERROR_ENUMERATOR) LACUNA_ERROR_COUNT } lacuna_error;
#undef LACUNA_ERROR_ENUMERATOR

/* General description of an error; never null. */
const char* lacuna_error_string(lacuna_error error);
/* Description of the last failed call, with names and numbers; empty before the first failure. Valid until the next failure. */
const char* lacuna_last_error(void);

/* -------------------------------------------------------------------------------------------------------------- device */

typedef struct lacuna_device lacuna_device;

typedef struct lacuna_properties {
  uint32_t version;     /* interface, major << 16 | minor */
  uint32_t target;      /* major << 16 | minor << 8 | stepping: gfx803 = 0x080003 */
  char target_name[16]; /* "gfx803" */
  uint32_t shader_arrays;
  uint32_t compute_units;
  uint32_t simds_per_compute_unit;
  uint32_t wavefronts_per_simd;
  uint32_t wavefront_size;
  uint32_t vgprs_per_simd;
  uint32_t sgprs_per_simd;
  uint32_t lds_bytes_per_compute_unit;
  uint32_t queue_slots;
  uint64_t memory_bytes; /* GPU memory */
  uint64_t core_clock_hz;
  uint64_t timestamp_hz;
} lacuna_properties;

/* Checks for a device with registers at `mmio_bus_address`, resets it, and installs a handler for its interrupt. One device
 * may be open at an address. Errors: NO_DEVICE, VERSION, OUT_OF_HOST_MEMORY, OUT_OF_DEVICE_MEMORY. */
lacuna_error lacuna_device_open(uint64_t mmio_bus_address, unsigned interrupt_source, lacuna_device** device);
/* Resets the device and frees everything that was created on it. Null is allowed. */
void lacuna_device_close(lacuna_device* device);
const lacuna_properties* lacuna_device_properties(const lacuna_device* device);
/* Value of the device's timestamp counter, in ticks of timestamp_hz. */
uint64_t lacuna_device_timestamp(lacuna_device* device);

/* -------------------------------------------------------------------------------------------------------------- memory */

#define LACUNA_ACCESS_READ 1u
#define LACUNA_ACCESS_WRITE 2u
#define LACUNA_ACCESS_EXECUTE 4u

typedef struct lacuna_memory {
  uint64_t gpu_address;
  void* host;
  uint64_t bytes;
} lacuna_memory;

/* Allocates at least `bytes` bytes of GPU memory, aligned to 4 KiB; the page after them stays unmapped, so that a
 * kernel that accesses memory beyond the end faults. Contents are undefined. */
lacuna_error lacuna_allocate(lacuna_device* device, uint64_t bytes, lacuna_memory* memory);
/* Frees memory of lacuna_allocate, which the GPU must not be using. Clears *memory. NOT_ALLOCATED for other memory. */
lacuna_error lacuna_free(lacuna_device* device, lacuna_memory* memory);
/* Allows kernels to access host RAM at [host, host + bytes), both multiples of 4 KiB. lacuna_unmap_host revokes the access. */
lacuna_error lacuna_map_host(lacuna_device* device, void* host, uint64_t bytes, uint32_t access, lacuna_memory* memory);
lacuna_error lacuna_unmap_host(lacuna_device* device, lacuna_memory* memory);

/* Copies performed by the host. The GPU range must lie in one allocation or mapping. */
lacuna_error lacuna_copy_to_device(lacuna_device* device, uint64_t gpu_address, const void* source, uint64_t bytes);
lacuna_error lacuna_copy_from_device(lacuna_device* device, void* destination, uint64_t gpu_address, uint64_t bytes);
lacuna_error lacuna_fill(lacuna_device* device, uint64_t gpu_address, uint8_t value, uint64_t bytes);

/* Translate addresses inside allocations and mappings; NULL and 0 for other addresses. */
void* lacuna_host_pointer(lacuna_device* device, uint64_t gpu_address, uint64_t bytes);
uint64_t lacuna_gpu_address(lacuna_device* device, const void* host);

/* -------------------------------------------------------------------------------------------------------- code objects */

typedef struct lacuna_code_object lacuna_code_object;

typedef struct lacuna_kernel {
  uint64_t object;                /* GPU address of the kernel descriptor or amd_kernel_code_t */
  uint32_t group_segment_bytes;   /* static LDS */
  uint32_t private_segment_bytes; /* scratch per work-item */
  uint32_t kernarg_segment_bytes; /* explicit and hidden arguments */
  uint32_t code_object_version;   /* 2 to 5 */
} lacuna_kernel;

/* Checks and loads an AMD GPU ELF (code object version 2 to 5) into GPU memory. The image is copied; it may be at any address
 * and have any contents. Errors: INVALID_CODE_OBJECT, INCOMPATIBLE_CODE_OBJECT, OUT_OF_DEVICE_MEMORY, OUT_OF_HOST_MEMORY. */
lacuna_error lacuna_code_object_load(lacuna_device* device, const void* image, size_t bytes, lacuna_code_object** code_object);
/* Unloads a code object, of which no kernel may be running. Null is allowed. */
void lacuna_code_object_unload(lacuna_code_object* code_object);
/* Finds the kernel that has this name in the source, e.g. "vector_add". Errors: NO_SUCH_KERNEL, INVALID_CODE_OBJECT. */
lacuna_error lacuna_kernel_find(const lacuna_code_object* code_object, const char* name, lacuna_kernel* kernel);

/* ------------------------------------------------------------------------------------------------------------- signals */

typedef struct lacuna_signal lacuna_signal;

typedef enum lacuna_condition {
  LACUNA_CONDITION_EQUAL,
  LACUNA_CONDITION_NOT_EQUAL,
  LACUNA_CONDITION_LESS,
  LACUNA_CONDITION_GREATER_OR_EQUAL
} lacuna_condition;

#define LACUNA_WAIT_FOREVER UINT64_MAX

lacuna_error lacuna_signal_create(lacuna_device* device, int64_t initial_value, lacuna_signal** signal);
/* Destroys a signal, to which no packet in flight may refer. Null is allowed. */
void lacuna_signal_destroy(lacuna_signal* signal);
int64_t lacuna_signal_load(const lacuna_signal* signal);
void lacuna_signal_store(lacuna_signal* signal, int64_t value);
/* The signal's handle in AQL packets. */
uint64_t lacuna_signal_handle(const lacuna_signal* signal);
/* Start and end time of the packet that completed with this signal, in ticks of timestamp_hz. */
void lacuna_signal_times(const lacuna_signal* signal, uint64_t* start, uint64_t* end);
/* Time between start and end in nanoseconds. */
uint64_t lacuna_signal_duration(const lacuna_signal* signal);

/* Sleeps (WFI) until the signal's value meets the condition, or until `nanoseconds` of host time have passed: TIMEOUT. If the
 * queue of the latest packet with this completion signal has failed, or another queue has failed and its failure has not been
 * reported, returns the failed queue's error instead of sleeping on: QUEUE_FAILED, MEMORY_FAULT or EXCEPTION, with slot,
 * packet, fault address and pc in lacuna_last_error(). */
lacuna_error lacuna_signal_wait(lacuna_signal* signal, lacuna_condition condition, int64_t value, uint64_t nanoseconds);
/* Waits until the value is 0, without a time limit. */
lacuna_error lacuna_signal_wait_zero(lacuna_signal* signal);

/* -------------------------------------------------------------------------------------------------------------- queues */

typedef struct lacuna_queue lacuna_queue;

typedef struct lacuna_queue_options {
  uint32_t packets;               /* ring size, a power of two from 1 to 65536; 0 = 64 */
  uint32_t private_segment_bytes; /* scratch per work-item that kernels on this queue may use; 0 = none */
  uint32_t kernarg_bytes;         /* room for the arguments of one dispatch; 0 = 512 */
} lacuna_queue_options;

/* Creates a queue. `options` may be null. Errors: NO_FREE_SLOT, QUEUE_REFUSED, OUT_OF_DEVICE_MEMORY, OUT_OF_HOST_MEMORY,
 * SEGMENT_TOO_LARGE. */
lacuna_error lacuna_queue_create(lacuna_device* device, const lacuna_queue_options* options, lacuna_queue** queue);
/* Destroys a queue and drops its unprocessed packets. Null is allowed. */
void lacuna_queue_destroy(lacuna_queue* queue);
lacuna_device* lacuna_queue_device(const lacuna_queue* queue);

typedef struct lacuna_queue_state {
  uint32_t slot;
  uint32_t status;       /* LACUNA_QUEUE_INACTIVE, _ACTIVE, _FAILED of gpu_registers.h */
  uint32_t error;        /* LACUNA_QUEUE_ERROR_* */
  uint64_t error_packet; /* index of the packet at which the queue failed */
  uint64_t write_index;  /* packets written since creation */
  uint64_t read_index;   /* packets retired */
  uint32_t fault;        /* LACUNA_FAULT_* when this queue's last failure was a fault */
  uint64_t fault_address;
  uint64_t fault_pc;
} lacuna_queue_state;

void lacuna_queue_get_state(lacuna_queue* queue, lacuna_queue_state* state);

typedef enum lacuna_scope { LACUNA_SCOPE_NONE = 0, LACUNA_SCOPE_AGENT = 1, LACUNA_SCOPE_SYSTEM = 2 } lacuna_scope;

typedef struct lacuna_dispatch_options {
  bool barrier;         /* start only when all earlier packets of the queue have completed */
  lacuna_scope acquire; /* caches invalidated before the packet */
  lacuna_scope release; /* caches written back after the packet */
} lacuna_dispatch_options;

typedef struct lacuna_dispatch_packet {
  const lacuna_kernel* kernel;
  uint32_t grid[3];      /* work-items; 0 is treated as 1 */
  uint16_t workgroup[3]; /* work-items; 0 is treated as 1 */
  const void* arguments; /* explicit arguments laid out as a C struct of the kernel's parameters */
  size_t argument_bytes;
  uint32_t dynamic_group_segment_bytes;
  lacuna_signal* completion; /* decremented at the end; may be null */
  /* Null: no barrier bit, system scope for acquire and release, which is right when host and GPU exchange data. */
  const lacuna_dispatch_options* options;
} lacuna_dispatch_packet;

/* Writes a kernel dispatch packet and rings the doorbell. Returns QUEUE_FULL without waiting if the ring is full,
 * SEGMENT_TOO_LARGE if the queue has too little room for the kernel's arguments or scratch, and the queue's error
 * (QUEUE_FAILED, MEMORY_FAULT or EXCEPTION) if the queue has failed. */
lacuna_error lacuna_dispatch(lacuna_queue* queue, const lacuna_dispatch_packet* dispatch);
/* Sleeps until the ring has room for a packet; returns the queue's error if the queue has failed. */
lacuna_error lacuna_queue_wait_room(lacuna_queue* queue);
/* As lacuna_dispatch, but sleeps while the ring is full. */
lacuna_error lacuna_dispatch_blocking(lacuna_queue* queue, const lacuna_dispatch_packet* dispatch);

/* Writes a packet that completes when all (AND) or at least one (OR) of up to five signals are 0; null entries are ignored. */
lacuna_error lacuna_barrier_and(lacuna_queue* queue, lacuna_signal* const dependencies[], unsigned count,
                                lacuna_signal* completion, const lacuna_dispatch_options* options);
lacuna_error lacuna_barrier_or(lacuna_queue* queue, lacuna_signal* const dependencies[], unsigned count,
                               lacuna_signal* completion, const lacuna_dispatch_options* options);

/* Writes the packet of a job of the sparse dataflow accelerator (docs/guide/sida.md): `program` is the GPU address of a program
 * of lacuna/abi/sida.h, aligned to 16 bytes. `completion` and `options`: as for a dispatch. Errors: NO_ACCELERATOR, QUEUE_FULL,
 * and the queue's error if the queue has failed. */
lacuna_error lacuna_dispatch_sida(lacuna_queue* queue, uint64_t program, lacuna_signal* completion,
                                  const lacuna_dispatch_options* options);
typedef struct lacuna_accelerator_state {
  uint32_t pes; /* processing elements of a core; 0 = the device has no accelerator */
  uint64_t buffer_bytes;
  bool busy;
  uint32_t pass;          /* running pass, or last pass of the last job */
  uint32_t step;          /* step of that pass */
  uint32_t jobs;          /* number of jobs that have ended since the device was opened */
  uint32_t error;         /* LACUNA_SIDA_ERROR_* of the last job that failed; 0 = none */
  uint64_t error_address; /* GPU address of the error; 0 = none */
} lacuna_accelerator_state;
void lacuna_accelerator_get_state(lacuna_device* device, lacuna_accelerator_state* state);

/* Raw access for tools and tests: appends a 64-byte AQL packet without checking it. With `doorbell` false the device is not
 * notified; a later packet's doorbell covers it. `index`, if not null, receives the packet's index. */
lacuna_error lacuna_queue_submit(lacuna_queue* queue, const void* packet, bool doorbell, uint64_t* index);
/* Stores any value to the queue's doorbell. */
void lacuna_queue_ring(lacuna_queue* queue, uint64_t index);
/* GPU address of the queue's amd_queue_t. */
uint64_t lacuna_queue_address(const lacuna_queue* queue);

/* ---------------------------------------------------------------------------------------------------- kernel arguments */

typedef struct lacuna_launch_shape {
  uint32_t grid[3];
  uint16_t workgroup[3];
  uint16_t dimensions;
  uint32_t private_aperture_hi;
  uint32_t shared_aperture_hi;
  uint64_t queue_address;
} lacuna_launch_shape;

/* Lays out a kernel's argument segment in `segment` (`segment_bytes` >= kernarg_segment_bytes): the explicit arguments, then
 * the hidden ones: with code object version 5, block counts, group sizes, remainders, dimensions, apertures and queue; all
 * other hidden arguments are zero. lacuna_dispatch calls this function. Returns SEGMENT_TOO_LARGE if the explicit arguments do
 * not fit into the kernel's segment, or the kernel's segment does not fit into `segment`. */
lacuna_error lacuna_kernel_arguments(const lacuna_kernel* kernel, const lacuna_launch_shape* shape, const void* arguments,
                                     size_t argument_bytes, void* segment, size_t segment_bytes);

#ifdef __cplusplus
}
#endif

#endif
