/* Executes the plan of `lacuna launch` (its kernels, buffers and dispatches) using the driver library. Contents of buffers
 * move between the simulator's files and GPU memory directly. */
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "driver/hsa.h"
#include "platform/launch/launch_plan.h"
#include "startup/runtime.h"

enum { SYS_OPEN = 0x01, SYS_CLOSE = 0x02, SYS_WRITE = 0x05, SYS_READ = 0x06, MODE_READ = 1, MODE_WRITE = 5 };

static struct {
  lacuna_device* device;
  lacuna_queue* queue;
  lacuna_signal* idle;
  uint64_t packets; /* number of packets submitted to the queue */
  bool busy;        /* some dispatches have not been waited for */
  uint32_t* lines;  /* line of each packet in the ring, by packet index, to locate a failed packet */
  uint32_t ring;    /* number of packets in the ring */
  lacuna_code_object** codes;
  uint32_t code_count;
  lacuna_kernel* kernels;
  uint32_t kernel_count;
  lacuna_memory* buffers;
  uint32_t buffer_count;
  uint32_t line; /* line of the record being executed */
} launch;

static struct {
  long handle;
  uint64_t begin;
  uint64_t end;
  union {
    uint64_t alignment;
    uint8_t bytes[2 * LAUNCH_RECORD_BYTES];
  } data;
} plan;

/* Opens a file of the simulator. Returns a negative number if the simulator does not provide the file. */
static long try_open(const char* name, long mode) {
  const struct {
    const char* name;
    long mode;
    size_t length;
  } parameters = {name, mode, strlen(name)};
  return semihosting_call(SYS_OPEN, &parameters);
}

/* Returns the number of bytes that were not transferred. */
static uint64_t transfer(long operation, long handle, void* memory, uint64_t bytes) {
  const struct {
    long handle;
    void* memory;
    uint64_t bytes;
  } parameters = {handle, memory, bytes};
  return (uint64_t)semihosting_call(operation, &parameters);
}

static _Noreturn void stop_with(int code, const char* what, const char* why) {
  struct {
    struct launch_failure head;
    char text[1024];
  } failure = {.head = {.line = launch.line}};
  snprintf(failure.text, sizeof failure.text, "%s%s%s", what, why[0] != '\0' ? ": " : "", why);
  const long handle = try_open(LAUNCH_FAILURE_FILE, MODE_WRITE);
  if (handle >= 0) transfer(SYS_WRITE, handle, &failure, sizeof failure.head + strlen(failure.text));
  exit(code);
}

static _Noreturn void stop(const char* what, const char* why) { stop_with(1, what, why); }

/* Sets launch.line to that of the failed dispatch, which may be earlier than the current one. */
static void find_failed_line(void) {
  if (launch.queue == NULL) return;
  lacuna_queue_state state;
  lacuna_queue_get_state(launch.queue, &state);
  if (state.error != 0) launch.line = launch.lines[state.error_packet % launch.ring];
}

static void need(lacuna_error error) {
  if (error == LACUNA_OK) return;
  if (error == LACUNA_ERROR_QUEUE_FAILED || error == LACUNA_ERROR_MEMORY_FAULT || error == LACUNA_ERROR_EXCEPTION) {
    find_failed_line();
  }
  stop(lacuna_error_string(error), lacuna_last_error());
}

/* Like need(), but for errors of a code object, which the user must correct. */
static void need_code(lacuna_error error) {
  if (error != LACUNA_OK) stop_with(LAUNCH_REFUSED_CODE, lacuna_error_string(error), lacuna_last_error());
}

static void* allocate(size_t bytes) {
  void* memory = calloc(1, bytes);
  if (memory == NULL) stop("the hart has no memory left for the launcher's tables", "");
  return memory;
}

static long open_file(const char* name, long mode) {
  const long handle = try_open(name, mode);
  if (handle < 0) stop("the simulator does not provide", name);
  return handle;
}

static long open_stream(uint32_t stream, long mode) {
  char name[sizeof LAUNCH_STREAM_FILE + 12];
  snprintf(name, sizeof name, "%s%u", LAUNCH_STREAM_FILE, (unsigned)stream);
  return open_file(name, mode);
}

static void close_file(long handle) { semihosting_call(SYS_CLOSE, &handle); }

/* Returns the next `bytes` bytes of the plan; null at its end. Valid until the next call. */
static const void* plan_bytes(uint64_t bytes) {
  while (plan.end - plan.begin < bytes) {
    memmove(plan.data.bytes, plan.data.bytes + plan.begin, plan.end - plan.begin);
    plan.end -= plan.begin;
    plan.begin = 0;
    const uint64_t room = sizeof plan.data.bytes - plan.end;
    const uint64_t left = transfer(SYS_READ, plan.handle, plan.data.bytes + plan.end, room);
    if (left >= room) return NULL;
    plan.end += room - left;
  }
  return plan.data.bytes + plan.begin;
}

/* Grows a table so that `index` is in it; new entries are zero. */
static void* reach(void* table, uint32_t* count, uint32_t index, size_t entry) {
  if (index < *count) return table;
  const uint32_t grown = index < 8 ? 16 : 2 * index;
  uint8_t* larger = allocate(grown * entry);
  if (table != NULL) memcpy(larger, table, *count * entry);
  free(table);
  *count = grown;
  return larger;
}

static void wait_for_dispatches(void) {
  if (!launch.busy) return;
  lacuna_signal_store(launch.idle, 1);
  const lacuna_dispatch_options options = {true, LACUNA_SCOPE_SYSTEM, LACUNA_SCOPE_SYSTEM};
  need(lacuna_queue_wait_room(launch.queue));
  launch.lines[launch.packets++ % launch.ring] = launch.line;
  need(lacuna_barrier_and(launch.queue, NULL, 0, launch.idle, &options));
  need(lacuna_signal_wait_zero(launch.idle));
  launch.busy = false;
}

static void load(const struct launch_load* record) {
  void* image = allocate(record->bytes);
  const long stream = open_stream(record->stream, MODE_READ);
  if (transfer(SYS_READ, stream, image, record->bytes) != 0) stop("the simulator gave too few bytes of the code object", "");
  close_file(stream);
  launch.codes = reach(launch.codes, &launch.code_count, record->code, sizeof *launch.codes);
  need_code(lacuna_code_object_load(launch.device, image, record->bytes, &launch.codes[record->code]));
  free(image);
}

static void find_kernel(const struct launch_kernel* record) {
  launch.kernels = reach(launch.kernels, &launch.kernel_count, record->kernel, sizeof *launch.kernels);
  lacuna_kernel* kernel = &launch.kernels[record->kernel];
  need_code(lacuna_kernel_find(launch.codes[record->code], (const char*)(record + 1), kernel));
  if (kernel->private_segment_bytes < record->private_segment_bytes) {
    kernel->private_segment_bytes = record->private_segment_bytes;
  }
}

static void allocate_buffer(const struct launch_allocate* record) {
  launch.buffers = reach(launch.buffers, &launch.buffer_count, record->buffer, sizeof *launch.buffers);
  /* GPU memory that was never used is zero, and the launcher never frees any. */
  need(lacuna_allocate(launch.device, record->bytes, &launch.buffers[record->buffer]));
}

static void create_queue(const struct launch_queue* record) {
  const lacuna_queue_options options = {.packets = record->packets,
                                        .private_segment_bytes = record->private_segment_bytes,
                                        .kernarg_bytes = record->kernarg_bytes};
  need(lacuna_queue_create(launch.device, &options, &launch.queue));
  launch.ring = record->packets;
  launch.lines = allocate(record->packets * sizeof *launch.lines);
}

static void apply_patch(const struct launch_patch* patch, uint8_t* arguments) {
  uint64_t value = 0;
  const uint64_t queue_address = lacuna_queue_address(launch.queue);
  const volatile hsa_queue* queue = lacuna_host_pointer(launch.device, queue_address, sizeof *queue);
  switch (patch->kind) {
    case LAUNCH_PATCH_BUFFER:
      memcpy(&value, arguments + patch->offset, sizeof value);
      value += launch.buffers[patch->index].gpu_address;
      break;
    case LAUNCH_PATCH_QUEUE:
      value = queue_address;
      break;
    case LAUNCH_PATCH_PRIVATE_BASE:
    case LAUNCH_PATCH_SHARED_BASE: {
      const uint32_t base = patch->kind == LAUNCH_PATCH_PRIVATE_BASE ? queue->private_segment_aperture_base_hi
                                                                     : queue->group_segment_aperture_base_hi;
      memcpy(arguments + patch->offset, &base, sizeof base);
      return;
    }
    default:
      stop("the plan has an unknown patch", "");
  }
  memcpy(arguments + patch->offset, &value, sizeof value);
}

static void dispatch(const struct launch_dispatch* record) {
  const struct launch_patch* patches = (const struct launch_patch*)(record + 1);
  uint8_t* arguments = (uint8_t*)(patches + record->patches);
  for (uint32_t i = 0; i < record->patches; ++i) apply_patch(&patches[i], arguments);
  const lacuna_kernel* kernel = &launch.kernels[record->kernel];
  /* The barrier bit: each dispatch starts when the previous one has ended. */
  const lacuna_dispatch_options options = {true, LACUNA_SCOPE_AGENT, LACUNA_SCOPE_AGENT};
  const lacuna_dispatch_packet packet = {.kernel = kernel,
                                         .grid = {record->grid[0], record->grid[1], record->grid[2]},
                                         .workgroup = {record->workgroup[0], record->workgroup[1], record->workgroup[2]},
                                         .arguments = arguments,
                                         .argument_bytes = record->argument_bytes,
                                         .dynamic_group_segment_bytes = record->dynamic_group_bytes,
                                         .options = &options};
  for (uint32_t i = 0; i < record->repeat; ++i) {
    need(lacuna_queue_wait_room(launch.queue));
    launch.lines[launch.packets++ % launch.ring] = launch.line;
    launch.busy = true;
    need(lacuna_dispatch(launch.queue, &packet));
  }
}

static void move(const struct launch_transfer* record, long operation, long mode) {
  wait_for_dispatches();
  const lacuna_memory* buffer = &launch.buffers[record->buffer];
  const long stream = open_stream(record->stream, mode);
  if (transfer(operation, stream, (uint8_t*)buffer->host + record->offset, record->bytes) != 0) {
    stop(operation == SYS_READ ? "the simulator could not read a buffer's contents" : "the simulator could not write a buffer",
         "");
  }
  close_file(stream);
}

int main(void) {
  plan.handle = open_file(LAUNCH_PLAN_FILE, MODE_READ);
  launch.device = app_open_device();
  launch.idle = app_signal(launch.device, 0);
  for (;;) {
    const struct launch_header* header = plan_bytes(sizeof *header);
    if (header == NULL) stop("the plan has no end", "");
    const void* record = plan_bytes(header->bytes);
    if (record == NULL) stop("the plan ends within a record", "");
    header = record;
    plan.begin += header->bytes;
    launch.line = header->line;
    switch (header->operation) {
      case LAUNCH_LOAD:
        load(record);
        break;
      case LAUNCH_KERNEL:
        find_kernel(record);
        break;
      case LAUNCH_ALLOCATE:
        allocate_buffer(record);
        break;
      case LAUNCH_QUEUE:
        create_queue(record);
        break;
      case LAUNCH_DISPATCH:
        dispatch(record);
        break;
      case LAUNCH_UPLOAD:
        move(record, SYS_READ, MODE_READ);
        break;
      case LAUNCH_DOWNLOAD:
        move(record, SYS_WRITE, MODE_WRITE);
        break;
      case LAUNCH_ABORT:
        return LAUNCH_REFUSED_CODE;
      case LAUNCH_END:
        wait_for_dispatches();
        return 0;
      default:
        stop("the plan has an unknown record", "");
    }
  }
}
