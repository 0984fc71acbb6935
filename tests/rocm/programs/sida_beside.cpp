// Runs PageRank as a job of the sparse dataflow accelerator in one queue while kernels stream an array in another, and prints
// the host time of both together. Arguments: code object of firmware/kernels/test_kernels.cl, matrix as of `lacuna sida run`,
// iterations of the job, number of kernels, words that each kernel reads and writes.
#include <chrono>
#include <iostream>
#include <vector>

#include "include/lacuna/sida_applications.h"
#include "models/sida/matrix/generators.h"
#include "platform/sida/application_image.h"
#include "tests/rocm/programs/sida_packets.h"

using namespace sida_test;

namespace {

struct Queue {
  hsa_queue_t* queue = nullptr;
  hsa_signal_t done{};

  Queue() {
    REQUIRE(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, nullptr, nullptr, UINT32_MAX, UINT32_MAX, &queue));
    REQUIRE(hsa_signal_create(1, 0, nullptr, &done));
  }
  void wait() const {
    EXPECT(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 0);
  }
};

}  // namespace

int main(int argc, char** argv) {
  EXPECT(argc == 6);
  const lacuna::sida::SparseMatrix matrix = lacuna::sida::generated(argv[2]);
  lacuna::ApplicationOptions options;
  options.limit = std::strtoull(argv[3], nullptr, 10);
  const unsigned kernels = static_cast<unsigned>(std::strtoul(argv[4], nullptr, 10));
  const auto words = static_cast<std::uint32_t>(std::strtoul(argv[5], nullptr, 10));
  constexpr unsigned kMostKernels = 60;  // packets that a queue holds
  EXPECT(kernels > 0 && kernels <= kMostKernels && words % 64 == 0);
  REQUIRE(hsa_init());
  REQUIRE(hsa_iterate_agents(take_agent, nullptr));
  const hsa_executable_t executable = loaded(argv[1]);
  const lacuna::ApplicationImage image(
      *lacuna_sida_application_named("pr"), matrix, options,
      [](std::span<const std::byte> bytes, bool) { return bytes.empty() ? 0 : put(bytes.data(), bytes.size()); });
  const std::vector<std::uint32_t> zeros(words);
  const std::uint64_t data = put(zeros.data(), words * sizeof zeros[0]);
  const Queue for_job, for_kernels;
  std::vector<hsa_kernel_dispatch_packet_t> packets(kernels, affine(executable, data, words, 1));
  packets.back().completion_signal = for_kernels.done;
  lacuna_sida_packet job{};
  job.format = LACUNA_SIDA_PACKET_FORMAT;
  job.program = image.program();
  job.completion_signal = for_job.done.handle;

  const auto begin = std::chrono::steady_clock::now();
  submit(for_job.queue, job, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
  for (const hsa_kernel_dispatch_packet_t& packet : packets) submit(for_kernels.queue, packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
  for_job.wait();
  for_kernels.wait();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;

  const lacuna::ApplicationImage::Result result = image.result([](std::uint64_t address, std::span<std::byte> bytes) {
    REQUIRE(hsa_memory_copy(bytes.data(), reinterpret_cast<const void*>(address), bytes.size()));
  });
  const lacuna::ApplicationImage::Result expected = image.reference();
  EXPECT(result.iterations == expected.iterations && result.bytes == expected.bytes);
  std::vector<std::uint32_t> counted(words);
  REQUIRE(hsa_memory_copy(counted.data(), reinterpret_cast<const void*>(data), words * sizeof counted[0]));
  for (const std::uint32_t word : counted) EXPECT(word == kernels);
  std::cout << "host seconds: " << took.count() << "\nresults: correct\n";
  for (const Queue* const each : {&for_job, &for_kernels}) {
    REQUIRE(hsa_queue_destroy(each->queue));
    REQUIRE(hsa_signal_destroy(each->done));
  }
  REQUIRE(hsa_shut_down());
  return 0;
}
