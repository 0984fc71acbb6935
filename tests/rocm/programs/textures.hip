// Tests textures, arrays and surfaces, for which the GPU has no hardware. With HSA_DISABLE_IMAGE=1 the runtime returns an error
// from every call; without this variable, the kernels with which it fills an array are rejected, and the program ends (argument
// "images").
#include "../check.h"

__global__ void increment(int* value) { ++*value; }

int main(int argc, char** argv) {
  const bool expected_images = argc > 1 && std::string(argv[1]) == "images";
  setenv("HSA_DISABLE_IMAGE", expected_images ? "0" : "1", 1);
  int images = -1;
  HIP_CHECK(hipDeviceGetAttribute(&images, hipDeviceAttributeImageSupport, 0));
  std::printf("image support: %d\n", images);
  std::fflush(stdout);
  EXPECT_EQ(images != 0, expected_images);

  const hipChannelFormatDesc format = hipCreateChannelDesc<float>();
  hipArray* array = nullptr;
  const hipError_t made = hipMallocArray(&array, &format, 64, 32, hipArrayDefault);
  std::printf("hipMallocArray: %s\n", hipGetErrorName(made));
  if (!expected_images) EXPECT_TRUE(made != hipSuccess);
  if (made == hipSuccess) {
    // If an array can be created, it holds the data copied to it.
    const std::vector<float> pixels = check::scrambled<float>(64 * 32);
    std::vector<float> back(64 * 32, -1.0f);
    HIP_CHECK(
        hipMemcpy2DToArray(array, 0, 0, pixels.data(), 64 * sizeof(float), 64 * sizeof(float), 32, hipMemcpyHostToDevice));
    HIP_CHECK(
        hipMemcpy2DFromArray(back.data(), 64 * sizeof(float), array, 0, 0, 64 * sizeof(float), 32, hipMemcpyDeviceToHost));
    EXPECT_EACH(back, [&](size_t i) { return pixels[i]; });
    HIP_CHECK(hipFreeArray(array));
  }

  check::DeviceArray<float> linear(1024);
  hipResourceDesc resource = {};
  resource.resType = hipResourceTypeLinear;
  resource.res.linear.devPtr = linear.data();
  resource.res.linear.desc = format;
  resource.res.linear.sizeInBytes = linear.bytes();
  hipTextureDesc description = {};
  description.readMode = hipReadModeElementType;
  hipTextureObject_t texture = {};
  const hipError_t bound = hipCreateTextureObject(&texture, &resource, &description, nullptr);
  std::printf("hipCreateTextureObject: %s\n", hipGetErrorName(bound));
  if (!expected_images) EXPECT_TRUE(bound != hipSuccess);
  if (bound == hipSuccess) HIP_CHECK(hipDestroyTextureObject(texture));
  (void)hipGetLastError();

  const check::DeviceArray<int> value(std::vector<int>(1, 41));
  increment<<<1, 1>>>(value.data());
  HIP_CHECK(hipDeviceSynchronize());
  EXPECT_EQ(value.download()[0], 42);
  return check::result();
}
