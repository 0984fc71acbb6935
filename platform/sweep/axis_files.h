// Values of an axis that are taken from a folder: `lacuna sweep FILE --files FOLDER`.
//
// A sweep with generated inputs states in [sweep] `files_of = AXIS by LABEL`, where both axes belong to one [zip], and in
// [files] a line `VALUE = FILE` for each value of LABEL. With --files, each value of AXIS is replaced by that file of the
// folder.
#pragma once

#include <filesystem>

#include "platform/sweep/sweep_file.h"

namespace lacuna {

/// Checks `files_of` and [files] of a sweep file. Throws SweepError.
void check_files(const SweepFile& sweep);

/// Replaces the values of the axis by files of the folder: FILE, FILE.gz, or FILE in a folder of its own, NAME/NAME.EXTENSION.
/// The name of the sweep is extended by "_files", so that its results are not those of the generated inputs. Throws SweepError
/// if the sweep has no `files_of`, or if a file is missing.
void take_files_from(const std::filesystem::path& folder, SweepFile& sweep);

}  // namespace lacuna
