/* Runs a kernel of data races and prints the resulting words, so that the run hash covers them. */
#include "app.h"

CODE_OBJECT(races);

#define WORDS 1024u
#define ITEMS 4096u

static uint64_t hash_of(const uint32_t* words, unsigned count) {
  uint64_t hash = 14695981039346656037u;
  for (unsigned i = 0; i < count; ++i) hash = (hash ^ words[i]) * 1099511628211u;
  return hash;
}

int main(void) {
  lacuna_device* device = app_open_device();
  lacuna_queue* queue;
  CHECK(lacuna_queue_create(device, NULL, &queue));
  const lacuna_kernel races = APP_KERNEL(device, races, "races");
  const lacuna_memory words = app_allocate(device, WORDS * sizeof(uint32_t));
  const lacuna_memory out = app_allocate(device, ITEMS * sizeof(uint32_t));
  CHECK(lacuna_fill(device, words.gpu_address, 1, words.bytes));
  const struct {
    uint64_t words;
    uint32_t mask, rounds;
    uint64_t out;
  } arguments = {words.gpu_address, WORDS - 1, 16, out.gpu_address};
  app_run(queue, &races, ITEMS, 64, &arguments, sizeof arguments);
  printf("words %016llx, values %016llx\n", (unsigned long long)hash_of(words.host, WORDS),
         (unsigned long long)hash_of(out.host, ITEMS));
  lacuna_device_close(device);
  return 0;
}
