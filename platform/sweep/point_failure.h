// Failure of a point: its cause in one line, derived from the result and log of its process, and the part of the log to keep.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "platform/sweep/point_runner.h"

namespace lacuna {

/// Cause of a failure in one line, the first of these that exists: the first error in the run's log (with kernel, PC,
/// wavefront, lane and address where the simulator reports them); the reason why lacuna refused to start; the signal or the
/// exit code, with the last line of the log. If the point timed out or was killed, the line begins with this fact. "" for a
/// point whose state is `done`.
std::string cause_of(const RunResult& result, const std::filesystem::path& folder);

/// The part of a cause that the log contains verbatim: the cause without the leading time.
std::string said_of_cause(const std::string& cause);

/// The log of a point. A long log is shortened to its beginning, or the part from the cause on, and its end.
std::string kept_log(const std::filesystem::path& folder, const std::string& cause);

/// Checks that a failure is not caused by the host (no space left, file size limit): writes a file into the folder and removes
/// it. Throws WriteError with the file or the folder.
void require_writable(const RunResult& result, const std::filesystem::path& folder);

/// Name and description of a signal, such as "SIGABRT (Aborted)".
std::string signal_text(int number);

/// Number of OOM kills in this process's control group (memory.events of cgroup v2).
std::optional<std::uint64_t> out_of_memory_kills();

}  // namespace lacuna
