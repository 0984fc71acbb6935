// Element-wise programs, in which each work-item reads an element of each operand and writes one of the result: the common part
// of COPY and VECADD, independent of the vectors' placement.
#pragma once

#include <array>

#include <hip/hip_runtime.h>

#include "workloads/common/placement.h"

constexpr unsigned group_size = 256;

/// `shift`: number of partitions between corresponding elements of consecutive vectors; the last vector is the result.
/// `start(arrays, length)` launches the kernel; `element(operands, i)` returns the expected result for element i.
template <std::size_t operand_count, typename Start, typename Element>
int run_element_wise(int argc, char** argv, const char* name, const char* summary, unsigned shift, const Start& start,
                     const Element& element) {
  workload::Program program(name, summary, "Opportunistic computing in GPU architectures (ISCA '19), Table 3");
  int length = 0;
  workload::Interleave interleave;
  program.size(length, "length", "elements", {20'000, 1 << 18, 1 << 22}, 1, 1 << 28);
  interleave.options(program);
  return program.run(argc, argv, [&] {
    std::array<std::vector<float>, operand_count> operands;
    for (std::vector<float>& operand : operands) operand = program.random().uniform_values(length, -1, 1);
    const workload::PlacedArrays<float> arrays(interleave, operand_count + 1, operands[0].size(), shift);
    for (std::size_t i = 0; i < operand_count; ++i) arrays.upload(i, operands[i]);
    program.measure([&] { start(arrays, static_cast<unsigned>(length)); });
    if (!program.checks()) return;
    std::vector<float> expected(operands[0].size());
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = element(operands, i);
    program.check_equal("c", arrays.download(operand_count), expected);
  });
}
