// Why a point is not done: in one line, from what its process has left; and what is kept of its log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "platform/sweep/point_runner.h"

namespace lacuna {

/// One line. The first of these that there is: the first error in the run's own log (with kernel, PC, wavefront, lane and
/// address where the simulator reports them); why lacuna refused to begin; the signal or the exit code, with the last line of
/// the log. A point that timed out or was killed begins with that. "" for a point that is done.
std::string cause_of(const PointEnd& end, const std::filesystem::path& folder);

/// What the line of the log has in it that the cause is from: the cause without the time before its text.
std::string said_of_cause(const std::string& cause);

/// The log of a point: all of a short one; of a long one the beginning, or from the cause on, and the end.
std::string kept_log(const std::filesystem::path& folder, const std::string& cause);

/// Refuses to take a point's failure for its own when the host could not take its output: no space left, a limit on the size
/// of files. Throws WriteError with the file or the folder. Writes a file into the folder and removes it.
void require_writable(const PointEnd& end, const std::filesystem::path& folder);

/// "SIGABRT (Aborted)".
std::string signal_text(int number);

/// How many processes of this one's control group the kernel has killed for want of memory (memory.events of cgroup v2).
std::optional<std::uint64_t> out_of_memory_kills();

}  // namespace lacuna
