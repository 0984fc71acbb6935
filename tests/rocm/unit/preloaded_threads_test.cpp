// Tests the functions of the C library that liblacuna_threads.so replaces; the test links that library before the C library.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sched.h>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <semaphore>
#include <string>
#include <thread>

#include "drivers/rocm/preload/threads.h"

extern "C" void lacuna_set_thread_hooks(const lacuna::rocm::ThreadHooks* called);

namespace lacuna::rocm {
namespace {

std::atomic<unsigned> hooked{0};
std::atomic<unsigned> created{0};
std::atomic<unsigned> handed_over{0};
constexpr ThreadHooks kHooks{.yield = [] { return ++hooked % 2 == 1; },
                             .created = [] { ++created; },
                             .handed_over = [](const void* caller) { handed_over += caller != nullptr ? 1 : 0; }};

TEST(PreloadedThreads, AHookTakesThePlaceOfYields) {
  EXPECT_EQ(sched_yield(), 0);
  lacuna_set_thread_hooks(&kHooks);
  EXPECT_EQ(sched_yield(), 0);
  EXPECT_EQ(hooked, 1U);
  std::this_thread::yield();
  EXPECT_EQ(hooked, 2U);
  lacuna_set_thread_hooks(nullptr);
  EXPECT_EQ(sched_yield(), 0);
  EXPECT_EQ(hooked, 2U);
}

TEST(PreloadedThreads, TheCreatorCallsAHookWhenTheThreadHasBegun) {
  lacuna_set_thread_hooks(&kHooks);
  std::thread([] {}).join();
  EXPECT_EQ(created, 1U);
  lacuna_set_thread_hooks(nullptr);
  std::thread([] {}).join();
  EXPECT_EQ(created, 1U);
}

// The mutex is handed over only if a thread waits for the mutex when it is unlocked.
TEST(PreloadedThreads, AMutexIsHandedOverToAThreadThatWaitsForIt) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  lacuna_set_thread_hooks(&kHooks);
  ASSERT_EQ(pthread_mutex_lock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(handed_over, 0U) << "no thread waits";
  ASSERT_EQ(pthread_mutex_lock(&mutex), 0);
  std::thread waits([&] {
    EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
    EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  });
  while (__atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED) != 2) std::this_thread::yield();
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  waits.join();
  EXPECT_EQ(handed_over, 1U);
  lacuna_set_thread_hooks(nullptr);
}

TEST(PreloadedThreads, MutexesOfAllKindsWorkAsWithout) {
  lacuna_set_thread_hooks(&kHooks);
  for (const int kind : {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK}) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    ASSERT_EQ(pthread_mutexattr_settype(&attributes, kind), 0);
    pthread_mutex_t mutex;
    ASSERT_EQ(pthread_mutex_init(&mutex, &attributes), 0);
    EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
    if (kind == PTHREAD_MUTEX_ERRORCHECK) {
      EXPECT_EQ(pthread_mutex_lock(&mutex), EDEADLK);
    }
    if (kind == PTHREAD_MUTEX_RECURSIVE) {
      EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
      EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
    }
    EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
    if (kind != PTHREAD_MUTEX_NORMAL) {
      EXPECT_EQ(pthread_mutex_unlock(&mutex), EPERM);
    }
    pthread_mutex_destroy(&mutex);
    pthread_mutexattr_destroy(&attributes);
  }
  lacuna_set_thread_hooks(nullptr);
}

/// Number of malloc arenas ("heaps") of the process; each thread that allocates memory has one.
unsigned heaps() {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const stream = open_memstream(&text, &size);
  EXPECT_EQ(malloc_info(0, stream), 0);
  std::fclose(stream);
  const std::string report(text, size);
  std::free(text);
  unsigned count = 0;
  for (std::size_t at = 0; (at = report.find("<heap nr=", at)) != std::string::npos; ++at) ++count;
  return count;
}

// A new thread has its heap from the start: later allocations do not create a heap.
TEST(PreloadedThreads, ANewThreadHasItsHeap) {
  std::binary_semaphore allocate(0);
  std::binary_semaphore allocated(0);
  std::binary_semaphore end(0);
  std::thread thread([&] {
    allocate.acquire();
    void* volatile block = std::malloc(100);
    std::free(block);
    allocated.release();
    end.acquire();
  });
  const unsigned begun = heaps();
  EXPECT_GT(begun, 1U);
  allocate.release();
  allocated.acquire();
  EXPECT_EQ(heaps(), begun);
  end.release();
  thread.join();
}

TEST(PreloadedThreads, JoinReturnsTheThreadFunctionsResult) {
  pthread_t thread{};
  int value = 3;
  ASSERT_EQ(pthread_create(
                &thread, nullptr, [](void* argument) -> void* { return static_cast<int*>(argument) + 1; }, &value),
            0);
  void* result = nullptr;
  ASSERT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, &value + 1);
}

TEST(PreloadedThreads, AFailedPthreadCreateReturnsItsErrorWithoutAHookCall) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  // A stack size that exceeds any host's address space.
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, std::size_t{1} << 60), 0);
  pthread_t thread{};
  created = 0;
  lacuna_set_thread_hooks(&kHooks);
  EXPECT_NE(pthread_create(
                &thread, &attributes, [](void* argument) -> void* { return argument; }, nullptr),
            0);
  lacuna_set_thread_hooks(nullptr);
  EXPECT_EQ(created, 0U);
  pthread_attr_destroy(&attributes);
}

}  // namespace
}  // namespace lacuna::rocm
