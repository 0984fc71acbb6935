// Ends the simulation and writes the results when the process ends, without hanging:
//
//   return from main, exit()     when the library is finalized, after the program's and the runtime's own exit handlers
//   quick_exit()                 in a handler of at_quick_exit()
//   signals that end a process   in a signal handler, unless the program handles the signal itself; the signal's default
//                                action follows. abort() (uncaught exceptions, the runtime's own errors) is such a signal.
//
// After _exit() and SIGKILL the final results are not written.
#pragma once

namespace lacuna::rocm {

/// Installs the signal handlers; call it once, after the driver has been created.
void watch_process_end();

}  // namespace lacuna::rocm
