/* Tests work-item ids in kernels: every subset of the six ids, in grids and workgroups of one, two and three dimensions, from
 * every code object version. */
#include <string.h>

#include "app.h"

#ifndef ON_GFX90A /* code object v2 is older than gfx90a */
CODE_OBJECT(work_item_ids_v2);
#endif
CODE_OBJECT(work_item_ids_v3);
CODE_OBJECT(work_item_ids);
CODE_OBJECT(work_item_ids_v5);

enum { SUBSETS = 64, IDS = 6, MOST_CELLS = 1 << 17 };

typedef struct shape {
  uint32_t grid[3];
  uint16_t workgroup[3];
} shape;

/* Grids and workgroups of one to three dimensions, with and without partial workgroups, and with the largest ids. */
static const shape shapes[] = {
    {{320, 1, 1}, {64, 1, 1}},    {{150, 1, 1}, {96, 1, 1}},    {{64, 3, 1}, {32, 1, 1}},     {{64, 3, 2}, {32, 1, 1}},
    {{24, 5, 1}, {24, 5, 1}},     {{48, 10, 1}, {24, 5, 1}},    {{50, 7, 1}, {16, 4, 1}},     {{16, 6, 3}, {8, 3, 1}},
    {{4, 4, 8}, {4, 4, 8}},       {{8, 8, 8}, {4, 4, 8}},       {{14, 8, 10}, {7, 4, 5}},     {{9, 11, 13}, {5, 3, 4}},
    {{1024, 1, 1}, {1024, 1, 1}}, {{1, 1024, 1}, {1, 1024, 1}}, {{1, 1, 1024}, {1, 1, 1024}}, {{2, 1, 600}, {2, 1, 512}},
};

typedef struct arguments {
  uint64_t counts;
  uint32_t cells;
  uint32_t strides[8] __attribute__((aligned(32)));
} arguments;

static lacuna_device* device;
static lacuna_queue* queue;

static uint32_t groups(const shape* s, unsigned dimension) {
  return (s->grid[dimension] + s->workgroup[dimension] - 1) / s->workgroup[dimension];
}

/* Number of values of id number `id`. */
static uint32_t values(const shape* s, unsigned id) { return id < 3 ? s->workgroup[id] : groups(s, id - 3); }

static uint32_t lay_out(const shape* s, unsigned subset, uint32_t* strides) {
  uint32_t cells = 1;
  for (unsigned id = 0; id < IDS; ++id) {
    strides[id] = cells;
    if ((subset >> id & 1) != 0) cells *= values(s, id);
  }
  return cells;
}

/* Number of positions in a dimension that have these ids; an id that is not in the subset may have any value. */
static uint32_t positions(const shape* s, unsigned dimension, bool by_local, uint32_t local, bool by_group, uint32_t group) {
  const uint32_t size = s->workgroup[dimension];
  const uint32_t end = s->grid[dimension];
  if (by_local && by_group) return group * size + local < end;
  if (by_local) return local < end ? (end - local + size - 1) / size : 0;
  if (by_group) return end - group * size < size ? end - group * size : size;
  return end;
}

static void check_counts(const shape* s, unsigned subset, const uint32_t* counts, unsigned version) {
  uint32_t strides[IDS];
  const uint32_t cells = lay_out(s, subset, strides);
  for (uint32_t cell = 0; cell <= cells; ++cell) {
    uint32_t expected = 1;
    for (unsigned d = 0; d < 3; ++d) {
      expected *= positions(s, d, subset >> d & 1, cell / strides[d] % values(s, d), subset >> (3 + d) & 1,
                            cell / strides[3 + d] % values(s, 3 + d));
    }
    if (cell == cells) expected = 0; /* after the last cell */
    if (counts[cell] == expected) continue;
    printf("version %u, ids_%u, grid %u x %u x %u, workgroup %u x %u x %u: cell %u of %u counts %u, not %u\n", version, subset,
           (unsigned)s->grid[0], (unsigned)s->grid[1], (unsigned)s->grid[2], (unsigned)s->workgroup[0],
           (unsigned)s->workgroup[1], (unsigned)s->workgroup[2], (unsigned)cell, (unsigned)cells, (unsigned)counts[cell],
           (unsigned)expected);
    app_fail("an id is wrong", __FILE__, __LINE__);
  }
}

static void check_shape(const lacuna_kernel* kernels, const shape* s, const lacuna_memory* memory) {
  uint32_t first[SUBSETS];
  uint32_t used = 0;
  lacuna_signal* done = app_signal(device, SUBSETS);
  arguments all[SUBSETS];
  for (unsigned subset = 0; subset < SUBSETS; ++subset) {
    arguments* a = &all[subset];
    memset(a, 0, sizeof *a);
    a->cells = lay_out(s, subset, a->strides);
    a->counts = memory->gpu_address + (first[subset] = used) * sizeof(uint32_t);
    used += a->cells + 1;
  }
  EXPECT(used <= MOST_CELLS);
  CHECK(lacuna_fill(device, memory->gpu_address, 0, used * sizeof(uint32_t)));
  for (unsigned subset = 0; subset < SUBSETS; ++subset) {
    lacuna_dispatch_packet packet = {
        .kernel = &kernels[subset], .arguments = &all[subset], .argument_bytes = sizeof all[subset], .completion = done};
    memcpy(packet.grid, s->grid, sizeof packet.grid);
    memcpy(packet.workgroup, s->workgroup, sizeof packet.workgroup);
    CHECK(lacuna_dispatch_blocking(queue, &packet));
  }
  CHECK(lacuna_signal_wait_zero(done));
  lacuna_signal_destroy(done);
  const uint32_t* counts = memory->host;
  for (unsigned subset = 0; subset < SUBSETS; ++subset)
    check_counts(s, subset, counts + first[subset], kernels[subset].code_object_version);
}

static void check_version(const uint8_t* begin, const uint8_t* end, unsigned version) {
  static lacuna_kernel kernels[SUBSETS];
  lacuna_code_object* code_object;
  CHECK(lacuna_code_object_load(device, begin, (size_t)(end - begin), &code_object));
  for (unsigned subset = 0; subset < SUBSETS; ++subset) {
    char name[16];
    snprintf(name, sizeof name, "ids_%u", subset);
    CHECK(lacuna_kernel_find(code_object, name, &kernels[subset]));
    EXPECT(kernels[subset].code_object_version == version);
  }
  lacuna_memory memory = app_allocate(device, MOST_CELLS * sizeof(uint32_t));
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i) check_shape(kernels, &shapes[i], &memory);
  CHECK(lacuna_free(device, &memory));
  lacuna_code_object_unload(code_object);
  printf("ids, code object version %u: correct\n", version);
}

#define CHECK_VERSION(code_object, version) check_version(code_object_##code_object, code_object_##code_object##_end, version)

int main(void) {
  device = app_open_device();
  CHECK(lacuna_queue_create(device, NULL, &queue));
#ifndef ON_GFX90A
  CHECK_VERSION(work_item_ids_v2, 2);
#endif
  CHECK_VERSION(work_item_ids_v3, 3);
  CHECK_VERSION(work_item_ids, 4);
  CHECK_VERSION(work_item_ids_v5, 5);
  lacuna_device_close(device);
  return 0;
}
