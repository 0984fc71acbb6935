// Tests hiprtc and modules: code that is compiled at run time and launched by name, with an array of arguments and with all
// arguments in one buffer; global variables of this code; errors.
#include <hip/hiprtc.h>

#include "../check.h"

#define RTC_CHECK(call) check::equal((call), HIPRTC_SUCCESS, #call, __FILE__, __LINE__)

namespace {

const char* const kSource = R"(
#include <hip/hip_runtime.h>
extern "C" {
__device__ int offset = 5;
__constant__ float weights[4];
}
template <typename T> __device__ T twice(T value) { return value + value; }
extern "C" __global__ void transform(float* values, int count, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = twice(values[i]) * factor + offset + weights[i % 4];
}
extern "C" __global__ void sum(const int* in, int* out) {
  extern __shared__ int partial[];
  partial[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    int total = 0;
    for (unsigned i = 0; i < blockDim.x; ++i) total += partial[i];
    *out = total * SCALE;
  }
}
template <int N> __global__ void multiple(int* out) { out[threadIdx.x] = threadIdx.x * N; }
)";

std::string lowered_name;

std::vector<char> compile() {
  hiprtcProgram program;
  RTC_CHECK(hiprtcCreateProgram(&program, kSource, "kernels.hip", 0, nullptr, nullptr));
  RTC_CHECK(hiprtcAddNameExpression(program, "multiple<7>"));
  const char* options[] = {"-DSCALE=10", "-O2"};
  const hiprtcResult result = hiprtcCompileProgram(program, 2, options);
  size_t size = 0;
  RTC_CHECK(hiprtcGetProgramLogSize(program, &size));
  std::string log(size, 0);
  if (size > 1) RTC_CHECK(hiprtcGetProgramLog(program, log.data()));
  if (result != HIPRTC_SUCCESS) std::fprintf(stderr, "%s\n", log.c_str());
  RTC_CHECK(result);
  const char* name = nullptr;
  RTC_CHECK(hiprtcGetLoweredName(program, "multiple<7>", &name));
  lowered_name = name != nullptr ? name : "";
  RTC_CHECK(hiprtcGetCodeSize(program, &size));
  std::vector<char> code(size);
  RTC_CHECK(hiprtcGetCode(program, code.data()));
  RTC_CHECK(hiprtcDestroyProgram(&program));
  return code;
}

void wrong_source() {
  hiprtcProgram program;
  RTC_CHECK(hiprtcCreateProgram(&program, "this is not C++", "wrong.hip", 0, nullptr, nullptr));
  EXPECT_EQ(hiprtcCompileProgram(program, 0, nullptr), HIPRTC_ERROR_COMPILATION);
  size_t size = 0;
  RTC_CHECK(hiprtcGetProgramLogSize(program, &size));
  EXPECT_TRUE(size > 10);
  RTC_CHECK(hiprtcDestroyProgram(&program));
}

}  // namespace

int main() {
  const std::vector<char> code = compile();
  wrong_source();
  hipModule_t module;
  HIP_CHECK(hipModuleLoadData(&module, code.data()));
  hipFunction_t transform, sum, multiple;
  HIP_CHECK(hipModuleGetFunction(&transform, module, "transform"));
  HIP_CHECK(hipModuleGetFunction(&sum, module, "sum"));
  HIP_CHECK(hipModuleGetFunction(&multiple, module, lowered_name.c_str()));
  EXPECT_STATUS(hipModuleGetFunction(&transform, module, "absent"), hipErrorNotFound);
  HIP_CHECK(hipModuleGetFunction(&transform, module, "transform"));

  const float weights[4] = {0.25f, 0.5f, 0.75f, 1.0f};
  hipDeviceptr_t address = nullptr;
  size_t size = 0;
  HIP_CHECK(hipModuleGetGlobal(&address, &size, module, "weights"));
  EXPECT_EQ(size, sizeof weights);
  HIP_CHECK(hipMemcpyHtoD(address, const_cast<float*>(weights), sizeof weights));

  int count = 1000;
  float factor = 1.5f;
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  check::DeviceArray<float> array(values);
  float* data = array.data();
  void* arguments[] = {&data, &count, &factor};
  HIP_CHECK(hipModuleLaunchKernel(transform, 4, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_EACH(array.download(), [&](size_t i) { return 2.0f * static_cast<float>(i) * 1.5f + 5.0f + weights[i % 4]; });

  // Launches the kernel with all arguments in one buffer.
  struct {
    float* data;
    int count;
    float factor;
  } packed = {data, count, 2.0f};
  size_t packed_size = sizeof packed;
  void* configuration[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &packed_size,
                           HIP_LAUNCH_PARAM_END};
  array.upload(values);
  HIP_CHECK(hipModuleLaunchKernel(transform, 4, 1, 1, 256, 1, 1, 0, nullptr, nullptr, configuration));
  EXPECT_EACH(array.download(), [&](size_t i) { return 2.0f * static_cast<float>(i) * 2.0f + 5.0f + weights[i % 4]; });

  std::vector<int> numbers(128);
  for (int i = 0; i < 128; ++i) numbers[i] = i * i;
  const check::DeviceArray<int> in(numbers), out(1);
  const int* in_data = in.data();
  int* out_data = out.data();
  void* sum_arguments[] = {&in_data, &out_data};
  HIP_CHECK(hipModuleLaunchKernel(sum, 1, 1, 1, 128, 1, 1, 128 * sizeof(int), nullptr, sum_arguments, nullptr));
  EXPECT_EQ(out.download()[0], 127 * 128 * 255 / 6 * 10);

  const check::DeviceArray<int> multiples(64);
  int* multiples_data = multiples.data();
  void* multiple_arguments[] = {&multiples_data};
  HIP_CHECK(hipModuleLaunchKernel(multiple, 1, 1, 1, 64, 1, 1, 0, nullptr, multiple_arguments, nullptr));
  EXPECT_EACH(multiples.download(), [](size_t i) { return i * 7; });
  HIP_CHECK(hipModuleUnload(module));

  const std::vector<char> rubbish(4096, 'x');
  EXPECT_TRUE(hipModuleLoadData(&module, rubbish.data()) != hipSuccess);
  EXPECT_STATUS(hipModuleLoad(&module, "no such file"), hipErrorFileNotFound);
  return check::result();
}
