#include "platform/sida/named_matrix.h"

#include <filesystem>
#include <ostream>

#include "models/sida/matrix/generators.h"
#include "models/sida/matrix/prepared.h"

namespace lacuna {

sida::ReadMatrix sida_matrix(const std::string& name, bool as_stored, std::ostream& warnings) {
  std::error_code problem;
  const bool is_file = std::filesystem::exists(name, problem);
  const bool looks_like_one = name.find_first_of("./") < name.find(':');
  if (is_file && sida::is_prepared(name)) {
    sida::ReadMatrix prepared;
    prepared.matrix = sida::read_prepared(name);
    prepared.stored = prepared.matrix.entries();
    return prepared;
  }
  if (is_file || (looks_like_one && !sida::is_matrix_kind(name))) {
    sida::ReadMatrix read = sida::read_matrix_market(name, {.as_stored = as_stored});
    for (const std::string& warning : read.warnings) warnings << "lacuna: warning: " << warning << '\n';
    return read;
  }
  sida::ReadMatrix made;
  made.matrix = sida::generated(name);
  made.stored = made.matrix.entries();
  return made;
}

}  // namespace lacuna
