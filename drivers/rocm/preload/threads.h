// What liblacuna_threads.so has of the program's threads, for the driver.
#pragma once

namespace lacuna::rocm {

/// Called instead of sched_yield(), from any thread; false: the thread is to yield the processor as usual.
using YieldHook = bool();
/// Name and type of the library's function that sets the hook.
inline constexpr const char* kSetYieldHook = "lacuna_set_yield_hook";
using SetYieldHook = void(YieldHook*);

}  // namespace lacuna::rocm
