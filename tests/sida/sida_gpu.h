// A device with the accelerator, and applications in its memory.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "models/extensions.h"
#include "models/sida/device/sida_extension.h"
#include "models/sida/matrix/generators.h"
#include "platform/sida/application_image.h"
#include "tests/gpu/test_gpu.h"

namespace lacuna::test {

inline GpuDeviceParameters sida_gpu(SidaPath path = SidaPath::fabric) {
  GpuDeviceParameters p = small_gpu();
  p.extensions = all_extensions();
  AcceleratorParameters& sida = p.extensions.get<SidaParameterSet>().sida;
  sida.present = true;
  sida.path = path;
  sida.machine.control.sub_tensor = 64;
  return p;
}

/// An application whose data are in the memory of a TestGpu, from offset `first` on.
class DeviceApplication {
 public:
  DeviceApplication(TestGpu& gpu, const char* name, const sida::SparseMatrix& matrix, const ApplicationOptions& options,
                    std::uint64_t first = TestGpu::kData)
      : gpu_(gpu), next_(first), image_(*lacuna_sida_application_named(name), matrix, options, [this](auto bytes, bool) {
          const std::uint64_t at = next_;
          next_ = (next_ + bytes.size() + 15) / 16 * 16;
          if (next_ > TestGpu::kMapped) throw std::length_error("the application does not fit into mapped memory");
          if (!bytes.empty()) std::memcpy(&gpu_.at<std::byte>(at), bytes.data(), bytes.size());
          return TestGpu::kBase + at;
        }) {}

  lacuna_sida_packet packet(bool barrier = false) const {
    lacuna_sida_packet packet{};
    packet.header = hsa::PacketHeader::of(hsa::PacketType::vendor_specific, barrier).bits;
    packet.format = LACUNA_SIDA_PACKET_FORMAT;
    packet.program = image_.program();
    packet.completion_signal = TestGpu::signal();
    return packet;
  }
  void submit() { gpu_.submit(packet()); }
  /// Expects the result in memory to equal that of the reference bit by bit.
  void expect_right(const std::string& what) const {
    const ApplicationImage::Result expected = image_.reference(),
                                   actual = image_.result([this](std::uint64_t address, auto bytes) {
                                     std::memcpy(bytes.data(), &gpu_.at<std::byte>(address - TestGpu::kBase), bytes.size());
                                   });
    EXPECT_EQ(actual.iterations, expected.iterations) << what;
    EXPECT_TRUE(actual.bytes == expected.bytes) << what;
  }
  const ApplicationImage& image() const { return image_; }
  lacuna_sida_program& header() { return gpu_.at<lacuna_sida_program>(image_.program() - TestGpu::kBase); }

 private:
  TestGpu& gpu_;
  std::uint64_t next_;
  ApplicationImage image_;
};

/// Names and values of counters that differ, except peaks, which do not grow with each run.
inline std::string difference(const Counts& a, const Counts& b) {
  std::string text;
  for (const auto& [name, count] : a) {
    if (b.at(name) != count && !name.ends_with("_peak"))
      text += name + ": " + std::to_string(count) + ", " + std::to_string(b.at(name)) + "\n";
  }
  return text;
}

}  // namespace lacuna::test
