// What all programs of sparse_programs have in common.
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

/// What a program leaves to be compared with `expected`.
struct ProgramRun {
  std::uint64_t iterations = 0;
  std::function<void(const ApplicationResult& expected)> check;
};

/// One rounding of f64 in any of `terms` operations (see sum_error() of common/program.h, which is of f32).
inline double error_f64(double terms) { return terms * 0x1p-53 / (1 - terms * 0x1p-53); }

}  // namespace workload
