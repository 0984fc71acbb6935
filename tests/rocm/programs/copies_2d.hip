// Tests copies of rectangles to, within and from device memory, and copies of boxes to and from device memory.
#include "../check.h"

namespace {

constexpr size_t kWidth = 75, kHeight = 40;  // bytes per row, and rows
constexpr size_t kHostPitch = 96;

void rectangles() {
  const std::vector<uint8_t> source = check::scrambled<uint8_t>(kHostPitch * kHeight);
  void *first = nullptr, *second = nullptr;
  size_t first_pitch = 0, second_pitch = 128;
  HIP_CHECK(hipMallocPitch(&first, &first_pitch, kWidth, kHeight));
  HIP_CHECK(hipMalloc(&second, second_pitch * kHeight));
  HIP_CHECK(hipMemset(second, 0xee, second_pitch * kHeight));
  HIP_CHECK(hipMemcpy2D(first, first_pitch, source.data(), kHostPitch, kWidth, kHeight, hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy2D(second, second_pitch, first, first_pitch, kWidth, kHeight, hipMemcpyDeviceToDevice));
  std::vector<uint8_t> target(kHostPitch * kHeight, 0x55);
  HIP_CHECK(hipMemcpy2D(target.data(), kHostPitch, second, second_pitch, kWidth, kHeight, hipMemcpyDeviceToHost));
  EXPECT_EACH(target, [&](size_t i) { return i % kHostPitch < kWidth ? source[i] : 0x55; });

  // The bytes between the rows on the device are not written.
  std::vector<uint8_t> whole(second_pitch * kHeight);
  HIP_CHECK(hipMemcpy(whole.data(), second, whole.size(), hipMemcpyDeviceToHost));
  EXPECT_EACH(whole, [&](size_t i) {
    const size_t row = i / second_pitch, column = i % second_pitch;
    return column < kWidth ? source[row * kHostPitch + column] : 0xee;
  });

  hipStream_t stream;
  HIP_CHECK(hipStreamCreate(&stream));
  std::vector<uint8_t> again(kHostPitch * kHeight, 0x77);
  HIP_CHECK(hipMemcpy2DAsync(again.data(), kHostPitch, first, first_pitch, kWidth, kHeight, hipMemcpyDeviceToHost, stream));
  HIP_CHECK(hipStreamSynchronize(stream));
  EXPECT_EACH(again, [&](size_t i) { return i % kHostPitch < kWidth ? source[i] : 0x77; });
  HIP_CHECK(hipStreamDestroy(stream));

  EXPECT_STATUS(hipMemcpy2D(target.data(), kWidth - 1, first, first_pitch, kWidth, kHeight, hipMemcpyDeviceToHost),
                hipErrorInvalidPitchValue);
  HIP_CHECK(hipFree(first));
  HIP_CHECK(hipFree(second));
}

void boxes() {
  constexpr size_t kX = 24, kY = 10, kZ = 6;
  const std::vector<float> source = check::scrambled<float>(kX * kY * kZ);
  hipPitchedPtr device;
  const hipExtent extent = make_hipExtent(kX * sizeof(float), kY, kZ);
  HIP_CHECK(hipMalloc3D(&device, extent));
  hipMemcpy3DParms up = {};
  up.srcPtr = make_hipPitchedPtr(const_cast<float*>(source.data()), kX * sizeof(float), kX, kY);
  up.dstPtr = device;
  up.extent = extent;
  up.kind = hipMemcpyHostToDevice;
  HIP_CHECK(hipMemcpy3D(&up));

  // Copies a part of the interior of the box to the corner of a smaller box.
  std::vector<float> part(10 * 4 * 3, -1.0f);
  hipMemcpy3DParms down = {};
  down.srcPtr = device;
  down.srcPos = make_hipPos(5 * sizeof(float), 2, 1);
  down.dstPtr = make_hipPitchedPtr(part.data(), 10 * sizeof(float), 10, 4);
  down.extent = make_hipExtent(10 * sizeof(float), 4, 3);
  down.kind = hipMemcpyDeviceToHost;
  HIP_CHECK(hipMemcpy3D(&down));
  EXPECT_EACH(part, [&](size_t i) {
    const size_t x = i % 10 + 5, y = i / 10 % 4 + 2, z = i / 40 + 1;
    return source[(z * kY + y) * kX + x];
  });
  HIP_CHECK(hipFree(device.ptr));
}

}  // namespace

int main() {
  rectangles();
  boxes();
  return check::result();
}
