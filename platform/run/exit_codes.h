// Exit codes of the lacuna process. If the guest exits, the exit code is the guest's: its low 8 bits, or 1 if these are zero
// but the whole code is not. The codes here are the simulator's. `ended_by` in statistics.json distinguishes the two.
#pragma once

namespace lacuna {

inline constexpr int kExitUsage = 2;           ///< invalid command line, configuration or program, or unsuitable output folder
inline constexpr int kExitDifferent = 3;       ///< launch: a comparison differs; sida run --check: the result differs
inline constexpr int kExitCheckFailed = 4;     ///< a check of the modelled machine failed; the guest's results are correct
inline constexpr int kExitHostIsa = 69;        ///< the host lacks instructions of this build; EX_UNAVAILABLE of sysexits(3)
inline constexpr int kExitInternalError = 70;  ///< an error of the simulator itself, not of a model; EX_SOFTWARE of sysexits(3)
inline constexpr int kExitHost = 71;           ///< the host has no free memory, or refuses a thread or a file; EX_OSERR
inline constexpr int kExitOutput = 74;         ///< output could not be written, whatever the result; EX_IOERR of sysexits(3)
inline constexpr int kExitLostTrap = 123;      ///< the hart took a trap whose handler it cannot fetch
inline constexpr int kExitTimeLimit = 124;     ///< sim.max_time reached; same code as timeout(1)
inline constexpr int kExitHung = 125;          ///< no progress, or no pending events
inline constexpr int kExitModelError =
    126;  ///< internal error: a model reached an inconsistent state; exec: program cannot be started, as env(1)
inline constexpr int kExitInterrupted = 130;  ///< Ctrl-C, as shells report it

}  // namespace lacuna
