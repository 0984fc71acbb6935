#include "platform/sida/application_job.h"

namespace lacuna {

ApplicationJob::ApplicationJob(const lacuna_sida_application& application, const sida::SparseMatrix& matrix,
                               const Options& options)
    : image_(application, matrix, options,
             [this](std::span<const std::byte> bytes, bool writable) { return memory_.put(bytes, writable); }) {}

void ApplicationJob::run(const std::function<void(const sida::Program& program, const sida::PassOutcome& outcome)>& on_pass,
                         WorkerThreads* threads) {
  sida::Job job(memory_, image_.program(), threads);
  while (!job.is_done()) {
    const sida::PassOutcome outcome = job.run_pass();
    if (on_pass) on_pass(job.program(), outcome);
  }
  result_ = image_.result([this](std::uint64_t address, std::span<std::byte> bytes) { memory_.read(address, bytes); });
}

std::pair<std::uint64_t, std::vector<std::byte>> ApplicationJob::reference() const {
  ApplicationImage::Result reference = image_.reference();
  return {reference.iterations, std::move(reference.bytes)};
}

}  // namespace lacuna
