/* First-fit allocator of address ranges: which parts of [base, base + size) are free. Touches no memory of the range itself. */
#ifndef FIRMWARE_DRIVER_RANGE_ALLOCATOR_H
#define FIRMWARE_DRIVER_RANGE_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct range_allocator_node;

/* State; free ranges in ascending order, never empty, never adjacent. */
typedef struct range_allocator {
  struct range_allocator_node* free_ranges;
  uint64_t base;
  uint64_t size;
} range_allocator;

/* False when the host heap is exhausted. */
bool range_allocator_init(range_allocator* allocator, uint64_t base, uint64_t size);
void range_allocator_destroy(range_allocator* allocator);

/* The lowest `size` bytes (> 0) at a multiple of `alignment` (a power of two) into *address. False if there is no such range
 * or the host heap is exhausted; nothing is changed then. */
bool range_allocator_take(range_allocator* allocator, uint64_t size, uint64_t alignment, uint64_t* address);
/* Frees a range that was allocated, whole or in part. False if any byte of it is already free or outside, or if the
 * host heap is exhausted. */
bool range_allocator_give(range_allocator* allocator, uint64_t address, uint64_t size);

uint64_t range_allocator_free_bytes(const range_allocator* allocator);

#ifdef __cplusplus
}
#endif

#endif
