#include "models/sida/function/job.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "models/sida/function/elementwise.h"

namespace lacuna::sida {
namespace {

/// Copies a chunk's values of a register, and of the register that marks present elements, to their position in a whole vector.
void keep(const ElementWise& code, std::uint16_t values, std::uint16_t present, std::uint64_t first, std::uint64_t count,
          std::uint64_t element_bytes, HostVector& vector) {
  std::memcpy(vector.values.data() + first * element_bytes, code.output(values), count * element_bytes);
  if (present != LACUNA_SIDA_NONE) std::memcpy(vector.present.data() + first, code.output(present), count);
}

HostVector empty_vector(std::uint64_t elements, std::uint64_t element_bytes, bool present) {
  HostVector vector;
  vector.values.resize(elements * element_bytes);
  if (present) vector.present.resize(elements);
  return vector;
}

/// Bytes of one element's sums, with all features.
std::uint64_t bytes_of_sums(const lacuna_sida_pass& pass) {
  return std::uint64_t{pass.width} * lacuna_sida_element_bytes(lacuna_sida_sum_element(pass.element));
}

}  // namespace

Job::Job(Memory& memory, std::uint64_t address, WorkerThreads* threads)
    : memory_(memory), threads_(threads), program_(read_program(memory, address)) {
  program_.header.iterations = 0;
  program_.header.error = LACUNA_SIDA_ERROR_NONE;
  program_.header.exit = LACUNA_SIDA_EXIT_NONE;
}

void Job::load(const Pass& pass, HostVector& x) {
  const lacuna_sida_pass& d = pass.description;
  const std::uint64_t elements = program_.elements(pass, Phase::load),
                      element_bytes = std::uint64_t{d.width} * lacuna_sida_element_bytes(d.element);
  x = empty_vector(elements, element_bytes, d.x_present != LACUNA_SIDA_NONE);
  ElementWise code(memory_, program_, pass.of(Phase::load), program_.header.iterations);
  for (std::uint64_t first = 0; first < elements; first += code.chunk()) {
    const std::uint64_t count = std::min(code.chunk(), elements - first);
    code.run(first, count);
    keep(code, d.x, d.x_present, first, count, element_bytes, x);
  }
  code.finish();
}

void Job::os(const Pass& pass, const HostVector& x, HostVector& w) {
  const lacuna_sida_pass& d = pass.description;
  SharedProduct product(
      make_product(memory_, program_,
                   {d.matrix, (d.flags & LACUNA_SIDA_PASS_OS_TRANSPOSED) != 0, d.os_semiring, d.element, d.width}, x),
      threads_);
  const std::uint64_t sum_bytes = bytes_of_sums(d);
  const std::uint64_t elements = program_.elements(pass, Phase::ewise),
                      element_bytes = std::uint64_t{d.width} * lacuna_sida_element_bytes(d.element);
  if (pass.has_is()) w = empty_vector(elements, element_bytes, d.w_present != LACUNA_SIDA_NONE);
  ElementWise code(memory_, program_, pass.of(Phase::ewise), program_.header.iterations, d.y, d.width);
  for (std::uint64_t first = 0; first < elements; first += code.chunk()) {
    const std::uint64_t count = std::min(code.chunk(), elements - first);
    product.sums(first, count, code.input(), sum_bytes);
    code.run(first, count);
    if (pass.has_is()) keep(code, d.w, d.w_present, first, count, element_bytes, w);
  }
  code.finish();
}

void Job::element_wise(const Pass& pass) {
  ElementWise code(memory_, program_, pass.of(Phase::ewise), program_.header.iterations);
  const std::uint64_t elements = program_.elements(pass, Phase::ewise);
  for (std::uint64_t first = 0; first < elements; first += code.chunk()) {
    code.run(first, std::min(code.chunk(), elements - first));
  }
  code.finish();
}

void Job::is(const Pass& pass, const HostVector& w) {
  const lacuna_sida_pass& d = pass.description;
  SharedProduct product(
      make_product(memory_, program_,
                   {d.matrix, (d.flags & LACUNA_SIDA_PASS_IS_TRANSPOSED) != 0, d.is_semiring, d.element, d.width}, w),
      threads_);
  const std::uint64_t sum_bytes = bytes_of_sums(d);
  ElementWise code(memory_, program_, pass.of(Phase::finish), program_.header.iterations, d.z, d.width);
  const std::uint64_t elements = program_.elements(pass, Phase::finish);
  for (std::uint64_t first = 0; first < elements; first += code.chunk()) {
    const std::uint64_t count = std::min(code.chunk(), elements - first);
    product.sums(first, count, code.input(), sum_bytes);
    code.run(first, count);
  }
  code.finish();
}

bool Job::goes_on(const Pass& pass, std::uint16_t condition) const {
  return condition == LACUNA_SIDA_NONE || is_set(program_, condition, pass.description.condition_element);
}

bool Job::ends(const Pass& pass, std::uint32_t counts, std::uint16_t condition) {
  const bool counted = (pass.description.flags & counts) != 0;
  if (counted) ++program_.header.iterations;
  return !goes_on(pass, condition) || (counted && program_.header.iterations >= program_.header.limit);
}

void Job::swap(const Pass& pass) {
  for (std::uint32_t i = 0; i < pass.description.swaps; ++i) {
    const lacuna_sida_swap swap = program_.swaps[pass.description.first_swap + i];
    std::swap(program_.vectors[swap.a].address, program_.vectors[swap.b].address);
  }
}

void Job::go_on(const Pass& pass, PassOutcome& outcome, std::uint32_t exit, std::uint16_t exit_pass) {
  next_ = exit == LACUNA_SIDA_EXIT_NONE ? pass.description.next : exit_pass;
  if (exit != LACUNA_SIDA_EXIT_NONE && program_.header.exit == LACUNA_SIDA_EXIT_NONE) {
    outcome.exit = program_.header.exit = exit;
    program_.header.last_pass = outcome.pass;
  }
  if (next_ != LACUNA_SIDA_NONE) return;
  // This was the last pass. If no earlier pass has recorded an exit from the program's loop, the loop exits here.
  if (program_.header.exit == LACUNA_SIDA_EXIT_NONE) {
    outcome.exit = program_.header.exit = LACUNA_SIDA_EXIT_FINISH;
    program_.header.last_pass = outcome.pass;
  }
  write_results(memory_, program_);
}

PassOutcome Job::run_pass() {
  const Pass& pass = program_.passes[next_];
  const lacuna_sida_pass& d = pass.description;
  PassOutcome outcome{.pass = next_, .iteration = program_.header.iterations};
  HostVector x, w;
  if (pass.has_os()) {
    load(pass, x);
    run_scalar_code(program_, pass.after(Phase::load));
    if (!goes_on(pass, d.load_condition)) {
      go_on(pass, outcome, LACUNA_SIDA_EXIT_LOAD, d.load_exit);
      return outcome;
    }
    outcome.has_os = true;
    os(pass, x, w);
    x = {};
  } else {
    element_wise(pass);
  }
  run_scalar_code(program_, pass.after(Phase::ewise));
  if (ends(pass, LACUNA_SIDA_PASS_EWISE_COUNTS, d.ewise_condition)) {
    // Without a second product the pass is complete, so its swaps take effect.
    if (!pass.has_is()) swap(pass);
    go_on(pass, outcome, LACUNA_SIDA_EXIT_EWISE, d.ewise_exit);
    return outcome;
  }
  if (pass.has_is()) {
    outcome.has_is = true;
    is(pass, w);
  }
  run_scalar_code(program_, pass.after(Phase::finish));
  const bool is_end = ends(pass, LACUNA_SIDA_PASS_FINISH_COUNTS, d.finish_condition);
  swap(pass);
  go_on(pass, outcome, is_end ? LACUNA_SIDA_EXIT_FINISH : LACUNA_SIDA_EXIT_NONE, d.finish_exit);
  return outcome;
}

}  // namespace lacuna::sida
