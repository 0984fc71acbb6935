/* First-fit allocator of address ranges, which tracks the free parts of [base, base + size). Does not access the range's
 * memory. */
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

/* Initialises the allocator with one free range. Returns false if the host heap is exhausted. */
bool range_allocator_init(range_allocator* allocator, uint64_t base, uint64_t size);
void range_allocator_destroy(range_allocator* allocator);

/* Allocates the lowest `size` bytes (> 0) at a multiple of `alignment` (a power of two). Returns false, without changes, if
 * there is no such range or the host heap is exhausted. */
bool range_allocator_take(range_allocator* allocator, uint64_t size, uint64_t alignment, uint64_t* address);
/* Frees all or part of an allocated range. Returns false if any byte of the range is already free or outside of [base, base +
 * size), or if the host heap is exhausted. */
bool range_allocator_give(range_allocator* allocator, uint64_t address, uint64_t size);

uint64_t range_allocator_free_bytes(const range_allocator* allocator);

#ifdef __cplusplus
}
#endif

#endif
