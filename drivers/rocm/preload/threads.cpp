// Threads of the program, so that it does the same in every run. Preloaded by `lacuna exec`, because only what comes before the
// C library takes its place.
//
// A thread that waits for a GPU in a loop of sched_yield() can be let sleep by the driver instead: ROCm's HIP library waits so
// in hipStreamDestroy and in some copies.
//
// A new thread has its heap before pthread_create() returns. The C library maps it when the thread first allocates or frees
// memory; next to what other threads map, that would be at addresses that the host decides, and so would be all mappings that
// follow. Compilers in ROCm's libraries hash addresses of functions, so that even offsets in the program's heap would differ.
#include "drivers/rocm/preload/threads.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <atomic>
#include <cstdlib>

#include "drivers/rocm/preload/interposed.h"

namespace {

std::atomic<lacuna::rocm::YieldHook*> hook{nullptr};

using ThreadFunction = void*(void*);

/// On the stack of the thread that creates another one, until `begun`.
struct NewThread {
  ThreadFunction* function;
  void* argument;
  sem_t begun;
};

void* begin(void* new_thread) {
  auto* const made = static_cast<NewThread*>(new_thread);
  ThreadFunction* const function = made->function;
  void* const argument = made->argument;
  void* volatile block = std::malloc(1);
  std::free(block);
  sem_post(&made->begun);
  return function(argument);
}

}  // namespace

LACUNA_INTERPOSED void lacuna_set_yield_hook(lacuna::rocm::YieldHook* called) { hook.store(called); }

LACUNA_INTERPOSED int sched_yield() noexcept {
  lacuna::rocm::YieldHook* const called = hook.load(std::memory_order_acquire);
  return called != nullptr && called() ? 0 : static_cast<int>(syscall(SYS_sched_yield));
}

LACUNA_INTERPOSED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, ThreadFunction* function,
                                     void* argument) noexcept {
  using Create = int(pthread_t*, const pthread_attr_t*, ThreadFunction*, void*);
  static auto* const create = reinterpret_cast<Create*>(dlsym(RTLD_NEXT, "pthread_create"));
  NewThread made{.function = function, .argument = argument, .begun = {}};
  sem_init(&made.begun, 0, 0);
  const int error = create(thread, attributes, begin, &made);
  if (error == 0) {
    while (sem_wait(&made.begun) != 0) {
      // A signal came.
    }
  }
  sem_destroy(&made.begun);
  return error;
}
