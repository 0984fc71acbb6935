// Common parts of the programs of sparse_programs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "workloads/common/program.h"
#include "workloads/sparse_programs/application.h"

namespace workload {

struct RunOptions {
  std::string program, form;
  unsigned source = 0;
};

/// Results of a program's run, to be compared with the reference's.
struct ProgramRun {
  std::uint64_t iterations = 0;
  std::function<void(const ApplicationResult& expected)> check;
};

/// Relative error bound of `terms` roundings in f64 (see sum_error() of common/program.h for f32).
inline double error_f64(double terms) { return terms * 0x1p-53 / (1 - terms * 0x1p-53); }

}  // namespace workload
