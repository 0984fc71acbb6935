// Interposes thread functions of the C library so that the program behaves identically in every run. Preloaded by `lacuna
// exec`: only a library loaded before the C library can replace its functions.
//
// sched_yield(): the driver can put a thread to sleep that waits for a GPU in a loop of calls. ROCm's HIP library waits this
// way in hipStreamDestroy and in some copies.
//
// pthread_create(): a new thread gets its heap before the call returns. The C library maps the heap when the thread first
// allocates or frees memory; if other threads mapped memory concurrently, the host's scheduling would decide the addresses of
// this mapping and of all later mappings. Compilers in ROCm's libraries hash addresses of functions, so even offsets in the
// program's heap would differ.
//
// pthread_create(), pthread_mutex_unlock(): the driver can block the creator until the new thread waits, and a thread that
// unlocks a mutex until the thread that waited for the mutex waits again. If they ran concurrently, the host's scheduling would
// decide which of them allocates memory or launches a kernel first.
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

/// Start data of a new thread, on the stack of its creator, which waits for `begun`.
struct NewThread {
  ThreadFunction* function;
  void* argument;
  sem_t begun;
};

/// Numbers of threads that wait for a mutex, indexed by a hash of its address; a collision only causes handed_over() to be
/// called without a waiting thread. The mutex itself does not show this: it stays marked as contended after its last waiter has
/// acquired it.
constexpr std::size_t kNumbers = 1024;
std::array<std::atomic<unsigned>, kNumbers> waiting{};
std::atomic<unsigned>& waiting_for(const pthread_mutex_t* mutex) {
  return waiting[reinterpret_cast<std::uintptr_t>(mutex) / alignof(pthread_mutex_t) % kNumbers];
}

using MutexFunction = int(pthread_mutex_t*);
/// Returns the C library's function `name`. `known` caches it in an atomic variable: a static object initialised at its first
/// use would take a lock.
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
      // Interrupted by a signal: wait again.
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
