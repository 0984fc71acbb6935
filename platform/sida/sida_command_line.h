// Options of `lacuna sida`.
#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

#include "platform/sida/matrix_tools.h"

namespace lacuna {

void add_sida_options(boost::program_options::options_description& options);

/// Reads the options and the action into `sida`. Removes the action from the operands; the first remaining operand is the
/// matrix or program. Throws UsageError.
void take_sida_options(const boost::program_options::variables_map& values, std::vector<std::string>& operands,
                       SidaOptions& sida);

}  // namespace lacuna
