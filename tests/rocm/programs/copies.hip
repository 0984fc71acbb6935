// Tests hipMemcpy in every direction, at sizes and alignments that take different paths in the runtime: host writes through the
// large BAR, staging buffers, pinning of the host's pages, aligned and misaligned copy kernels. The bytes around the target
// must not change.
#include "../check.h"

namespace {

constexpr size_t kGuard = 64;
constexpr uint8_t kUntouched = 0xa5;

// Checks `got`, the whole target after a copy of `size` bytes from offset `from` of `source` to offset `to`: the copied bytes,
// and the guards around them. `line`: line of the copy, for messages.
void expect_copied(const std::vector<uint8_t>& got, const std::vector<uint8_t>& source, size_t from, size_t to, size_t size,
                   int line) {
  size_t wrong = 0;
  size_t first = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const bool inside = i >= to && i < to + size;
    const uint8_t expected = inside ? source[from + i - to] : kUntouched;
    if (got[i] != expected && wrong++ == 0) first = i;
  }
  ++check::checks();
  if (wrong != 0) {
    check::fail(__FILE__, line,
                "copy of " + std::to_string(size) + " bytes from offset " + std::to_string(from) + " to " + std::to_string(to),
                std::to_string(wrong) + " wrong bytes, first at " + std::to_string(first), "none");
  }
}

void copy_everywhere(size_t size, size_t from, size_t to) {
  const std::vector<uint8_t> source = check::scrambled<uint8_t>(size + from + kGuard, static_cast<uint32_t>(size));
  const std::vector<uint8_t> untouched(size + to + kGuard, kUntouched);
  const check::DeviceArray<uint8_t> device_source(source);

  check::DeviceArray<uint8_t> up(untouched);
  HIP_CHECK(hipMemcpy(up.data() + to, source.data() + from, size, hipMemcpyHostToDevice));
  expect_copied(up.download(), source, from, to, size, __LINE__);

  check::DeviceArray<uint8_t> across(untouched);
  HIP_CHECK(hipMemcpy(across.data() + to, device_source.data() + from, size, hipMemcpyDeviceToDevice));
  expect_copied(across.download(), source, from, to, size, __LINE__);

  std::vector<uint8_t> down = untouched;
  HIP_CHECK(hipMemcpy(down.data() + to, device_source.data() + from, size, hipMemcpyDeviceToHost));
  expect_copied(down, source, from, to, size, __LINE__);

  std::vector<uint8_t> host = untouched;
  HIP_CHECK(hipMemcpy(host.data() + to, source.data() + from, size, hipMemcpyHostToHost));
  expect_copied(host, source, from, to, size, __LINE__);

  std::vector<uint8_t> by_default = untouched;
  HIP_CHECK(hipMemcpy(by_default.data() + to, device_source.data() + from, size, hipMemcpyDefault));
  expect_copied(by_default, source, from, to, size, __LINE__);
}

void asynchronous_copies() {
  constexpr size_t kSize = 300000;
  const std::vector<uint8_t> source = check::scrambled<uint8_t>(kSize);
  std::vector<uint8_t> target(kSize, kUntouched);
  hipStream_t stream;
  HIP_CHECK(hipStreamCreate(&stream));
  check::DeviceArray<uint8_t> first(kSize), second(kSize);
  HIP_CHECK(hipMemcpyAsync(first.data(), source.data(), kSize, hipMemcpyHostToDevice, stream));
  HIP_CHECK(hipMemcpyAsync(second.data(), first.data(), kSize, hipMemcpyDeviceToDevice, stream));
  HIP_CHECK(hipMemcpyAsync(target.data(), second.data(), kSize, hipMemcpyDeviceToHost, stream));
  HIP_CHECK(hipStreamSynchronize(stream));
  EXPECT_EACH(target, [&](size_t i) { return source[i]; });
  HIP_CHECK(hipStreamDestroy(stream));
}

void overlapping_pointers() {
  // Copies within one allocation, without overlap of the ranges.
  std::vector<uint32_t> values = check::scrambled<uint32_t>(4096);
  check::DeviceArray<uint32_t> array(values);
  HIP_CHECK(hipMemcpy(array.data() + 2048, array.data(), 2048 * sizeof(uint32_t), hipMemcpyDeviceToDevice));
  EXPECT_EACH(array.download(), [&](size_t i) { return values[i % 2048]; });
}

}  // namespace

int main() {
  for (const size_t size : {1, 2, 3, 4, 7, 64, 65, 4096, 8191}) copy_everywhere(size, 0, 0);
  for (const size_t offset : {1, 2, 3, 15})
    copy_everywhere(5000, offset, 0), copy_everywhere(5000, 0, offset), copy_everywhere(777, offset, 16 - offset);
  copy_everywhere(1 << 16, 4, 8);
  copy_everywhere((1 << 20) + 13, 0, 0);
  copy_everywhere((4 << 20) + 100000, 0, 0);  // more than one packet of a copy engine can copy
  asynchronous_copies();
  overlapping_pointers();

  int value = 5;
  const check::DeviceArray<int> array(1);
  EXPECT_STATUS(hipMemcpy(array.data(), &value, 0, hipMemcpyHostToDevice), hipSuccess);
  EXPECT_STATUS(hipMemcpy(nullptr, &value, sizeof value, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_STATUS(hipMemcpyHtoD(array.data(), &value, sizeof value), hipSuccess);
  EXPECT_EQ(array.download()[0], 5);
  return check::result();
}
