// Tests HIP graphs that are created node by node, captured from streams, changed, and launched repeatedly.
#include "../check.h"

namespace {

constexpr int kCount = 2000;

__global__ void multiply(float* values, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) values[i] *= factor;
}

__global__ void add(float* sum, const float* a, const float* b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) sum[i] = a[i] + b[i];
}

hipKernelNodeParams kernel_parameters(void* function, void** arguments) {
  hipKernelNodeParams parameters = {};
  parameters.func = function;
  parameters.gridDim = dim3((kCount + 255) / 256);
  parameters.blockDim = dim3(256);
  parameters.kernelParams = arguments;
  return parameters;
}

// Nodes, in order: copies of a and b to the device, a *= 3, sum = a + b, and a copy of the sum to the host.
void node_by_node() {
  const std::vector<float> host_a = check::scrambled<float>(kCount, 1), host_b = check::scrambled<float>(kCount, 2);
  std::vector<float> host_sum(kCount);
  check::DeviceArray<float> a(kCount), b(kCount), sum(kCount);
  float *a_data = a.data(), *b_data = b.data(), *sum_data = sum.data();

  hipGraph_t graph;
  HIP_CHECK(hipGraphCreate(&graph, 0));
  hipGraphNode_t copy_a, copy_b, multiply_a, add_both, copy_sum;
  HIP_CHECK(hipGraphAddMemcpyNode1D(&copy_a, graph, nullptr, 0, a_data, host_a.data(), a.bytes(), hipMemcpyHostToDevice));
  HIP_CHECK(hipGraphAddMemcpyNode1D(&copy_b, graph, nullptr, 0, b_data, host_b.data(), b.bytes(), hipMemcpyHostToDevice));
  float factor = 3.0f;
  void* multiply_arguments[] = {&a_data, &factor};
  hipKernelNodeParams multiply_parameters = kernel_parameters(reinterpret_cast<void*>(multiply), multiply_arguments);
  HIP_CHECK(hipGraphAddKernelNode(&multiply_a, graph, &copy_a, 1, &multiply_parameters));
  void* add_arguments[] = {&sum_data, &a_data, &b_data};
  const hipKernelNodeParams add_parameters = kernel_parameters(reinterpret_cast<void*>(add), add_arguments);
  const hipGraphNode_t before_add[] = {multiply_a, copy_b};
  HIP_CHECK(hipGraphAddKernelNode(&add_both, graph, before_add, 2, &add_parameters));
  HIP_CHECK(
      hipGraphAddMemcpyNode1D(&copy_sum, graph, &add_both, 1, host_sum.data(), sum_data, sum.bytes(), hipMemcpyDeviceToHost));
  size_t nodes = 0;
  HIP_CHECK(hipGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, size_t{5});

  hipGraphExec_t executable;
  HIP_CHECK(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  hipStream_t stream;
  HIP_CHECK(hipStreamCreate(&stream));
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::fill(host_sum.begin(), host_sum.end(), 0.0f);
    HIP_CHECK(hipGraphLaunch(executable, stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    EXPECT_EACH(host_sum, [&](size_t i) { return host_a[i] * 3.0f + host_b[i]; });
  }
  factor = 5.0f;
  HIP_CHECK(hipGraphExecKernelNodeSetParams(executable, multiply_a, &multiply_parameters));
  HIP_CHECK(hipGraphLaunch(executable, stream));
  HIP_CHECK(hipStreamSynchronize(stream));
  EXPECT_EACH(host_sum, [&](size_t i) { return host_a[i] * 5.0f + host_b[i]; });
  HIP_CHECK(hipStreamDestroy(stream));
  HIP_CHECK(hipGraphExecDestroy(executable));
  HIP_CHECK(hipGraphDestroy(graph));
}

void captured() {
  const std::vector<float> start(kCount, 2.0f);
  std::vector<float> result(kCount);
  check::DeviceArray<float> values(start), other(kCount);
  hipStream_t stream, side;
  hipEvent_t fork, join;
  HIP_CHECK(hipStreamCreate(&stream));
  HIP_CHECK(hipStreamCreate(&side));
  HIP_CHECK(hipEventCreate(&fork));
  HIP_CHECK(hipEventCreate(&join));
  hipGraph_t graph;
  const unsigned blocks = (kCount + 255) / 256;
  HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP_CHECK(hipMemsetAsync(other.data(), 0, other.bytes(), stream));
  HIP_CHECK(hipEventRecord(fork, stream));
  HIP_CHECK(hipStreamWaitEvent(side, fork, 0));
  multiply<<<blocks, 256, 0, side>>>(values.data(), 2.0f);
  HIP_CHECK(hipEventRecord(join, side));
  HIP_CHECK(hipStreamWaitEvent(stream, join, 0));
  add<<<blocks, 256, 0, stream>>>(other.data(), values.data(), values.data());
  HIP_CHECK(hipMemcpyAsync(result.data(), other.data(), other.bytes(), hipMemcpyDeviceToHost, stream));
  HIP_CHECK(hipStreamEndCapture(stream, &graph));
  EXPECT_EACH(values.download(), [](size_t) { return 2.0f; });  // no graph has run yet

  hipGraphExec_t executable;
  HIP_CHECK(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  float expected = 2.0f;
  for (int repeat = 0; repeat < 5; ++repeat) {
    expected *= 2.0f;
    HIP_CHECK(hipGraphLaunch(executable, stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    EXPECT_EACH(result, [&](size_t) { return 2.0f * expected; });
  }
  HIP_CHECK(hipGraphExecDestroy(executable));
  HIP_CHECK(hipGraphDestroy(graph));
  HIP_CHECK(hipEventDestroy(fork));
  HIP_CHECK(hipEventDestroy(join));
  HIP_CHECK(hipStreamDestroy(side));
  HIP_CHECK(hipStreamDestroy(stream));
}

}  // namespace

int main() {
  node_by_node();
  captured();
  return check::result();
}
