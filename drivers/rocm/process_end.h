// The end of the process, however it comes: the results are written and nothing hangs.
//
//   return from main, exit()     when the library is finalized: after the program's and the runtime's own exit handlers
//   quick_exit()                 likewise
//   signals that end a process   unless the program handles them itself: the results are written, then the signal does its
//   work.
//                                abort() (uncaught exceptions, the runtime's own reports) comes as a signal, too.
// _exit() and SIGKILL leave nobody to write anything.
#pragma once

namespace lacuna::rocm {

/// Once, when the driver has been made.
void watch_process_end();

}  // namespace lacuna::rocm
