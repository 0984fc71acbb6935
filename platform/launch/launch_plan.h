/* Requests of `lacuna launch` to its launcher program on the hart: a stream of records that the program reads by semihosting
 * and executes in order. Shared by the host (C++) and the firmware (C); both are little-endian with natural alignment.
 *
 * Files of the simulator (semihosting names):
 *   :launch/plan        the records; a read may return fewer bytes than requested, 0 at the end
 *   :launch/stream/N    contents of N, a code object or a buffer, to be read or written once, from start to end
 *   :launch/failure     written by the launcher before it ends with an error: launch_failure and the reason as text
 *
 * No record contains the name of a host file: the behaviour and the time of the launcher must not depend on such names. */
#ifndef PLATFORM_LAUNCH_PLAN_H
#define PLATFORM_LAUNCH_PLAN_H

#include <stdint.h>

#define LAUNCH_PLAN_FILE ":launch/plan"
#define LAUNCH_STREAM_FILE ":launch/stream/"
#define LAUNCH_FAILURE_FILE ":launch/failure"

/* Longest record, header included. */
#define LAUNCH_RECORD_BYTES 98304u

/* Exit code of the launcher when the user's input is wrong; equals the host's kExitUsage. */
#define LAUNCH_REFUSED_CODE 2

enum launch_operation {
  LAUNCH_LOAD = 1, /* launch_load: a code object from a stream */
  LAUNCH_KERNEL,   /* launch_kernel, name: looks a kernel up */
  LAUNCH_ALLOCATE, /* launch_allocate: a buffer in GPU memory, all zero */
  LAUNCH_QUEUE,    /* launch_queue: creates the queue for all later records */
  LAUNCH_DISPATCH, /* launch_dispatch, patches, argument segment: queued after earlier dispatches */
  LAUNCH_UPLOAD,   /* launch_transfer: waits for the dispatches, then copies a stream to a buffer */
  LAUNCH_DOWNLOAD, /* launch_transfer: waits for the dispatches, then copies a buffer to a stream */
  LAUNCH_ABORT,    /* ends the program immediately with LAUNCH_REFUSED_CODE: the host has found and reported an error */
  LAUNCH_END       /* waits for the dispatches and ends the program */
};

struct launch_header {
  uint32_t operation;
  uint32_t bytes; /* size of the record, this header included; a multiple of 8 */
  uint32_t line;  /* line of the launch file; 0 = none */
  uint32_t reserved;
};

/* The reason follows as text, up to the end of the file. */
struct launch_failure {
  uint32_t line; /* `line` of the record that failed; 0 = none */
  uint32_t reserved;
};

struct launch_load {
  struct launch_header header;
  uint32_t code;
  uint32_t stream;
  uint64_t bytes;
};

struct launch_kernel {
  struct launch_header header;
  uint32_t kernel;
  uint32_t code;
  uint32_t private_segment_bytes; /* minimum; the kernel's own value if that is larger */
  uint32_t name_bytes;            /* bytes of the name after this struct, including its terminating 0 */
};

struct launch_allocate {
  struct launch_header header;
  uint64_t bytes;
  uint32_t buffer;
  uint32_t reserved;
};

struct launch_queue {
  struct launch_header header;
  uint32_t packets;
  uint32_t kernarg_bytes;
  uint32_t private_segment_bytes;
  uint32_t reserved;
};

enum launch_patch_kind {
  LAUNCH_PATCH_BUFFER,       /* 64 bits: address of buffer `index` plus the value in the argument segment */
  LAUNCH_PATCH_QUEUE,        /* 64 bits: address of the queue */
  LAUNCH_PATCH_PRIVATE_BASE, /* 32 bits: upper half of the private aperture's base */
  LAUNCH_PATCH_SHARED_BASE   /* 32 bits: upper half of the LDS aperture's base */
};

struct launch_patch {
  uint32_t kind;
  uint32_t offset; /* byte offset in the argument segment */
  uint32_t index;
  uint32_t reserved;
};

struct launch_dispatch {
  struct launch_header header;
  uint32_t kernel;
  uint32_t grid[3]; /* size of the grid in work-items */
  uint32_t repeat;
  uint32_t reserved;
  uint16_t workgroup[4]; /* size of a workgroup in work-items; [3] unused */
  uint32_t dynamic_group_bytes;
  uint32_t patches;
  uint32_t argument_bytes; /* a multiple of 8 */
  uint32_t reserved2;
};

struct launch_transfer {
  struct launch_header header;
  uint64_t offset; /* byte offset in the buffer */
  uint64_t bytes;
  uint32_t buffer;
  uint32_t stream;
};

#endif
