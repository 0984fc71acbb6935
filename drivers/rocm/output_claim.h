// Several processes of one run and one --out: the first one gets the folder, each further one a folder inside it.
#pragma once

#include <filesystem>

#include "platform/run/output_folder.h"

namespace lacuna::rocm {

/// `folder`, or folder/process-PID when another process of this run (LACUNA_RUN, which `lacuna exec` sets) or a process that
/// still lives has it. Throws OutputError as OutputFolder::at does.
OutputFolder claim_folder(const std::filesystem::path& folder);

}  // namespace lacuna::rocm
