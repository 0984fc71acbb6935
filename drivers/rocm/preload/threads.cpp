// Threads of the program, so that it does the same in every run. Preloaded by `lacuna exec`, because only what comes before the
// C library takes its place.
//
// A thread that waits for a GPU in a loop of sched_yield() can be let sleep by the driver instead: ROCm's HIP library waits so
// in hipStreamDestroy and in some copies.
//
// A new thread has its heap before pthread_create() returns. The C library maps it when the thread first allocates or frees
// memory; next to what other threads map, that would be at addresses that the host decides, and so would be all mappings that
// follow. Compilers in ROCm's libraries hash addresses of functions, so that even offsets in the program's heap would differ.
//
// The driver can keep the creator in pthread_create() until the new thread waits, and a thread that unlocks a mutex in
// pthread_mutex_unlock() until the one that has waited for it waits again: side by side, the host would decide which of them
// allocates or launches first.
#include "drivers/rocm/preload/threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "drivers/rocm/preload/interposed.h"

namespace {

std::atomic<const lacuna::rocm::ThreadHooks*> hooks{nullptr};

using ThreadFunction = void*(void*);

/// On the stack of the thread that creates another one, until `begun`.
struct NewThread {
  ThreadFunction* function;
  void* argument;
  sem_t begun;
};

/// Threads that wait for a mutex, by its address; mutexes that share a number are handed over when a thread waits for any of
/// them. The mutex itself does not say: a thread that has had to wait for it leaves it marked so.
constexpr std::size_t kNumbers = 1024;
std::array<std::atomic<unsigned>, kNumbers> waiting{};
std::atomic<unsigned>& waiting_for(const pthread_mutex_t* mutex) {
  return waiting[reinterpret_cast<std::uintptr_t>(mutex) / alignof(pthread_mutex_t) % kNumbers];
}

using MutexFunction = int(pthread_mutex_t*);
/// The C library's function. `known`: not a static object that is initialized at its first use, which would take a lock.
MutexFunction* next(std::atomic<MutexFunction*>& known, const char* name) {
  MutexFunction* function = known.load(std::memory_order_relaxed);
  if (function == nullptr) known = function = reinterpret_cast<MutexFunction*>(dlsym(RTLD_NEXT, name));
  return function;
}

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

LACUNA_INTERPOSED void lacuna_set_thread_hooks(const lacuna::rocm::ThreadHooks* called) { hooks.store(called); }

LACUNA_INTERPOSED int sched_yield() noexcept {
  const lacuna::rocm::ThreadHooks* const called = hooks.load(std::memory_order_acquire);
  return called != nullptr && called->yield() ? 0 : static_cast<int>(syscall(SYS_sched_yield));
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
  const lacuna::rocm::ThreadHooks* const called = hooks.load(std::memory_order_acquire);
  if (error == 0 && called != nullptr) called->created();
  return error;
}

LACUNA_INTERPOSED int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static std::atomic<MutexFunction*> known{nullptr};
  MutexFunction* const lock = next(known, "pthread_mutex_lock");
  if (hooks.load(std::memory_order_relaxed) == nullptr) return lock(mutex);
  const int tried = pthread_mutex_trylock(mutex);
  if (tried != EBUSY) return tried;
  std::atomic<unsigned>& count = waiting_for(mutex);
  ++count;
  const int error = lock(mutex);
  --count;
  return error;
}

LACUNA_INTERPOSED int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  static std::atomic<MutexFunction*> known{nullptr};
  MutexFunction* const unlock = next(known, "pthread_mutex_unlock");
  const bool is_waited_for = waiting_for(mutex).load(std::memory_order_relaxed) != 0;
  const int error = unlock(mutex);
  const lacuna::rocm::ThreadHooks* const called = hooks.load(std::memory_order_acquire);
  if (is_waited_for && error == 0 && called != nullptr) called->handed_over(__builtin_return_address(0));
  return error;
}
