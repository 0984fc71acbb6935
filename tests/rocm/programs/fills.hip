// Tests hipMemset and related functions: widths, sizes, offsets, pitched rectangles, asynchronous fills.
#include "../check.h"

namespace {

constexpr uint8_t kUntouched = 0x3c;

void fill_bytes(size_t offset, size_t size) {
  constexpr size_t kBytes = 20000;
  check::DeviceArray<uint8_t> array(std::vector<uint8_t>(kBytes, kUntouched));
  HIP_CHECK(hipMemset(array.data() + offset, 0x7e, size));
  HIP_CHECK(hipDeviceSynchronize());
  EXPECT_EACH(array.download(), [&](size_t i) { return i >= offset && i < offset + size ? 0x7e : kUntouched; });
}

void fill_words() {
  check::DeviceArray<uint32_t> words(std::vector<uint32_t>(1000, 1));
  HIP_CHECK(hipMemsetD32(words.data() + 10, static_cast<int>(0xdeadbeef), 900));
  EXPECT_EACH(words.download(), [](size_t i) { return i >= 10 && i < 910 ? 0xdeadbeefu : 1u; });
  HIP_CHECK(hipMemsetD16(words.data(), 0x1234, 2000));
  EXPECT_EACH(words.download(), [](size_t) { return 0x12341234u; });
  HIP_CHECK(hipMemsetD8(words.data(), 0x56, 4000));
  EXPECT_EACH(words.download(), [](size_t) { return 0x56565656u; });
  HIP_CHECK(hipMemsetAsync(words.data(), 0, words.bytes(), nullptr));
  EXPECT_EACH(words.download(), [](size_t) { return 0u; });
}

void fill_rectangle() {
  constexpr size_t kWidth = 100, kHeight = 30;
  void* data = nullptr;
  size_t pitch = 0;
  HIP_CHECK(hipMallocPitch(&data, &pitch, kWidth, kHeight));
  EXPECT_TRUE(pitch >= kWidth);
  HIP_CHECK(hipMemset(data, kUntouched, pitch * kHeight));
  HIP_CHECK(hipMemset2D(data, pitch, 9, kWidth, kHeight));
  std::vector<uint8_t> rows(pitch * kHeight);
  HIP_CHECK(hipMemcpy(rows.data(), data, rows.size(), hipMemcpyDeviceToHost));
  EXPECT_EACH(rows, [&](size_t i) { return i % pitch < kWidth ? 9 : kUntouched; });
  HIP_CHECK(hipFree(data));

  hipPitchedPtr box;
  HIP_CHECK(hipMalloc3D(&box, make_hipExtent(kWidth, 10, 5)));
  HIP_CHECK(hipMemset(box.ptr, kUntouched, box.pitch * 50));
  HIP_CHECK(hipMemset3D(box, 0x11, make_hipExtent(kWidth, 10, 5)));
  std::vector<uint8_t> bytes(box.pitch * 50);
  HIP_CHECK(hipMemcpy(bytes.data(), box.ptr, bytes.size(), hipMemcpyDeviceToHost));
  EXPECT_EACH(bytes, [&](size_t i) { return i % box.pitch < kWidth ? 0x11 : kUntouched; });
  HIP_CHECK(hipFree(box.ptr));
}

}  // namespace

int main() {
  for (const size_t size : {1, 3, 4, 16, 255, 4096, 19000}) fill_bytes(0, size);
  fill_bytes(1, 16);
  fill_bytes(3, 5);
  fill_bytes(4, 777);
  fill_bytes(256, 10000);
  fill_words();
  fill_rectangle();
  return check::result();
}
