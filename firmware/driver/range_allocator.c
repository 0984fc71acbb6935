#include "driver/range_allocator.h"

#include <stddef.h>
#include <stdlib.h>

typedef struct range_allocator_node {
  struct range_allocator_node* next;
  uint64_t address;
  uint64_t size;
} node;

static node* make_node(uint64_t address, uint64_t size, node* next) {
  node* made = malloc(sizeof *made);
  if (made != NULL) *made = (node){next, address, size};
  return made;
}

bool range_allocator_init(range_allocator* allocator, uint64_t base, uint64_t size) {
  *allocator = (range_allocator){NULL, base, size};
  if (size == 0) return true;
  allocator->free_ranges = make_node(base, size, NULL);
  return allocator->free_ranges != NULL;
}

void range_allocator_destroy(range_allocator* allocator) {
  while (allocator->free_ranges != NULL) {
    node* next = allocator->free_ranges->next;
    free(allocator->free_ranges);
    allocator->free_ranges = next;
  }
}

bool range_allocator_take(range_allocator* allocator, uint64_t size, uint64_t alignment, uint64_t* address) {
  if (size == 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return false;
  for (node** link = &allocator->free_ranges; *link != NULL; link = &(*link)->next) {
    node* range = *link;
    const uint64_t skipped = (0 - range->address) & (alignment - 1);
    if (skipped > range->size || range->size - skipped < size) continue;
    const uint64_t rest = range->size - skipped - size;
    const uint64_t taken = range->address + skipped;
    if (skipped == 0 && rest == 0) {
      *link = range->next;
      free(range);
    } else if (skipped == 0) {
      range->address += size;
      range->size = rest;
    } else {
      if (rest != 0) {
        node* tail = make_node(taken + size, rest, range->next);
        if (tail == NULL) return false;
        range->next = tail;
      }
      range->size = skipped;
    }
    *address = taken;
    return true;
  }
  return false;
}

bool range_allocator_give(range_allocator* allocator, uint64_t address, uint64_t size) {
  if (size == 0 || address < allocator->base || address - allocator->base > allocator->size ||
      allocator->size - (address - allocator->base) < size) {
    return false;
  }
  node* before = NULL;
  node* after = allocator->free_ranges;
  while (after != NULL && after->address < address) {
    before = after;
    after = after->next;
  }
  if (before != NULL && before->address + before->size > address) return false;
  if (after != NULL && address + size > after->address) return false;
  const bool joins_before = before != NULL && before->address + before->size == address;
  const bool joins_after = after != NULL && address + size == after->address;
  if (joins_before && joins_after) {
    before->size += size + after->size;
    before->next = after->next;
    free(after);
  } else if (joins_before) {
    before->size += size;
  } else if (joins_after) {
    after->address = address;
    after->size += size;
  } else {
    node* made = make_node(address, size, after);
    if (made == NULL) return false;
    *(before != NULL ? &before->next : &allocator->free_ranges) = made;
  }
  return true;
}

uint64_t range_allocator_free_bytes(const range_allocator* allocator) {
  uint64_t sum = 0;
  for (const node* range = allocator->free_ranges; range != NULL; range = range->next) sum += range->size;
  return sum;
}
