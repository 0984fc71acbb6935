// Kernels of a LLaMA decoder layer, for float and _Float16 elements; sums are float. Activations are [token][feature], weights
// [output][input] as in the published checkpoints, the caches of keys and values [head][position][dimension].
#pragma once

#include <hip/hip_runtime.h>

#include "workloads/common/gemm.h"

namespace llama7b {

constexpr unsigned kMostDimensions = 128;      // maximum number of dimensions of a head
constexpr unsigned kChunk = 128;               // positions per workgroup in decoding attention
constexpr unsigned kQueries = 16, kKeys = 32;  // tile of prefill attention
constexpr float kNormEpsilon = 1e-6f;          // LLaMA-7B's norm_eps

__device__ inline float wave_sum(float value, unsigned width = 64) {
  for (unsigned distance = width / 2; distance > 0; distance /= 2) value += __shfl_xor(value, distance);
  return value;
}
__device__ inline float wave_max(float value, unsigned width = 64) {
  for (unsigned distance = width / 2; distance > 0; distance /= 2) value = fmaxf(value, __shfl_xor(value, distance));
  return value;
}

/// y = x / sqrt(mean of squares + epsilon) * gain, one workgroup per token.
template <typename T>
__device__ inline void rms_norm(const T* x, const T* gain, T* y, unsigned features) {
  __shared__ float waves[4];
  const size_t first = static_cast<size_t>(blockIdx.x) * features;
  float squares = 0.0f;
  for (unsigned i = threadIdx.x; i < features; i += 256) {
    const auto value = static_cast<float>(x[first + i]);
    squares += value * value;
  }
  squares = wave_sum(squares);
  if (threadIdx.x % 64 == 0) waves[threadIdx.x / 64] = squares;
  __syncthreads();
  squares = (waves[0] + waves[1]) + (waves[2] + waves[3]);
  const float scale = 1.0f / sqrtf(squares / static_cast<float>(features) + kNormEpsilon);
  for (unsigned i = threadIdx.x; i < features; i += 256) {
    y[first + i] = static_cast<T>(static_cast<float>(x[first + i]) * scale * static_cast<float>(gain[i]));
  }
}

/// y (+)= W x: one wavefront per row. Lanes read 16 bytes at a time if `depth` is a multiple of that, otherwise one element.
template <typename T>
__device__ inline void gemv(const T* __restrict__ weights, const T* __restrict__ x, T* __restrict__ y, unsigned rows,
                            unsigned depth, bool accumulate) {
  constexpr unsigned kAtOnce = 16 / sizeof(T);
  using Several = T __attribute__((ext_vector_type(kAtOnce)));
  const unsigned row = blockIdx.x * 4 + threadIdx.x / 64, lane = threadIdx.x % 64;
  if (row >= rows) return;
  const T* const from = weights + static_cast<size_t>(row) * depth;
  float sum = 0.0f;
  if (depth % kAtOnce == 0) {
#pragma unroll 4
    for (unsigned k = lane * kAtOnce; k < depth; k += 64 * kAtOnce) {
      const Several w = *reinterpret_cast<const Several*>(from + k), v = *reinterpret_cast<const Several*>(x + k);
#pragma unroll
      for (unsigned i = 0; i < kAtOnce; ++i) sum += static_cast<float>(w[i]) * static_cast<float>(v[i]);
    }
  } else {
    for (unsigned k = lane; k < depth; k += 64) sum += static_cast<float>(from[k]) * static_cast<float>(x[k]);
  }
  sum = wave_sum(sum);
  if (lane == 0) y[row] = static_cast<T>(accumulate ? static_cast<float>(y[row]) + sum : sum);
}

/// Rotary position embedding: rotates queries in place, and keys into their cache; values are copied to their cache.
/// `rotations` are (cosine, sine) for each position and pair of adjacent dimensions (J. Su et al., RoFormer, 2021; pairs as in
/// the published LLaMA).
template <typename T>
__device__ inline void rotate(T* queries, const T* keys, const T* values, T* key_cache, T* value_cache, const float2* rotations,
                              unsigned heads, unsigned dimensions, unsigned context, unsigned positions) {
  const unsigned token = blockIdx.y, position = context + token, pair = blockIdx.x * blockDim.x + threadIdx.x;
  if (pair >= heads * dimensions / 2) return;
  const unsigned head = pair / (dimensions / 2), within = pair % (dimensions / 2) * 2;
  const float2 rotation = rotations[position * (dimensions / 2) + within / 2];
  const size_t at = static_cast<size_t>(token) * heads * dimensions + pair * 2;
  const size_t cached = (static_cast<size_t>(head) * positions + position) * dimensions + within;
  const auto q0 = static_cast<float>(queries[at]), q1 = static_cast<float>(queries[at + 1]);
  queries[at] = static_cast<T>(q0 * rotation.x - q1 * rotation.y);
  queries[at + 1] = static_cast<T>(q0 * rotation.y + q1 * rotation.x);
  const auto k0 = static_cast<float>(keys[at]), k1 = static_cast<float>(keys[at + 1]);
  key_cache[cached] = static_cast<T>(k0 * rotation.x - k1 * rotation.y);
  key_cache[cached + 1] = static_cast<T>(k0 * rotation.y + k1 * rotation.x);
  value_cache[cached] = values[at];
  value_cache[cached + 1] = values[at + 1];
}

/// Attention of one token: a workgroup processes kChunk positions (blockIdx.x) of a head (blockIdx.y). It writes the largest
/// score, the sum of exponentials relative to it, and the sum of values weighted with them, to parts[head][chunk][2 +
/// dimensions] (as in T. Dao et al., Flash-Decoding, 2023).
template <typename T>
__device__ inline void attention_decode(const T* queries, const T* key_cache, const T* value_cache, float* parts,
                                        unsigned dimensions, unsigned length, unsigned positions, float scale) {
  __shared__ float scores[kChunk], halves[kMostDimensions];
  constexpr unsigned kGroup = 16;  // lanes per key
  const unsigned head = blockIdx.y, first = blockIdx.x * kChunk, count = min(kChunk, length - first);
  const unsigned lane = threadIdx.x % kGroup, group = threadIdx.x / kGroup;
  const T* const keys = key_cache + (static_cast<size_t>(head) * positions + first) * dimensions;
  float query[kMostDimensions / kGroup];
#pragma unroll
  for (unsigned i = 0; i < kMostDimensions / kGroup; ++i) {
    const unsigned d = lane + i * kGroup;
    query[i] = d < dimensions ? static_cast<float>(queries[head * dimensions + d]) : 0.0f;
  }
  for (unsigned p = group; p < kChunk; p += 256 / kGroup) {
    float score = 0.0f;
#pragma unroll
    for (unsigned i = 0; i < kMostDimensions / kGroup; ++i) {
      const unsigned d = lane + i * kGroup;
      if (d < dimensions && p < count) score += query[i] * static_cast<float>(keys[p * dimensions + d]);
    }
    score = wave_sum(score, kGroup);
    if (lane == 0) scores[p] = p < count ? score * scale : -INFINITY;
  }
  __syncthreads();
  // Every wavefront computes the maximum and the sum over all positions of the chunk; the first wavefront writes the
  // exponentials.
  const float s0 = scores[threadIdx.x % 64], s1 = scores[threadIdx.x % 64 + 64];
  const float most = wave_max(fmaxf(s0, s1)), e0 = expf(s0 - most), e1 = expf(s1 - most), sum = wave_sum(e0 + e1);
  __syncthreads();
  if (threadIdx.x < 64) {
    scores[threadIdx.x] = e0;
    scores[threadIdx.x + 64] = e1;
  }
  __syncthreads();
  const unsigned d = threadIdx.x % kMostDimensions, half = threadIdx.x / kMostDimensions;
  const T* const values = value_cache + (static_cast<size_t>(head) * positions + first) * dimensions;
  float weighted = 0.0f;
  if (d < dimensions) {
#pragma unroll 4
    for (unsigned p = half; p < count; p += 2) {
      weighted += scores[p] * static_cast<float>(values[p * dimensions + d]);
    }
  }
  if (half == 1) halves[d] = weighted;
  __syncthreads();
  float* const part = parts + (static_cast<size_t>(head) * gridDim.x + blockIdx.x) * (2 + dimensions);
  if (half == 0 && d < dimensions) part[2 + d] = weighted + halves[d];
  if (threadIdx.x == 0) {
    part[0] = most;
    part[1] = sum;
  }
}

/// Combines the parts of a head (blockIdx.x) that the attention kernel has written.
template <typename T>
__device__ inline void attention_combine(const float* parts, T* y, unsigned dimensions, unsigned chunks) {
  const unsigned head = blockIdx.x, d = threadIdx.x;
  const float* const of_head = parts + static_cast<size_t>(head) * chunks * (2 + dimensions);
  float most = -INFINITY, sum = 0.0f, weighted = 0.0f;
  for (unsigned c = 0; c < chunks; ++c) most = fmaxf(most, of_head[c * (2 + dimensions)]);
  for (unsigned c = 0; c < chunks; ++c) {
    const float* const part = of_head + c * (2 + dimensions);
    const float factor = expf(part[0] - most);
    sum += factor * part[1];
    if (d < dimensions) weighted += factor * part[2 + d];
  }
  if (d < dimensions) y[head * dimensions + d] = static_cast<T>(weighted / sum);
}

/// Causal attention of many tokens: a workgroup has 16 queries (blockIdx.x) of a head (blockIdx.y) and iterates over the keys
/// visible to them, 32 at a time, with a running maximum and sum (T. Dao et al., FlashAttention, 2022). Each query has 16
/// work-items.
template <typename T>
__device__ inline void attention_prefill(const T* queries, const T* key_cache, const T* value_cache, T* y, unsigned heads,
                                         unsigned dimensions, unsigned tokens, unsigned context, unsigned positions,
                                         float scale) {
  constexpr unsigned kLanes = 256 / kQueries, kEach = kMostDimensions / kLanes;
  __shared__ float query_tile[kQueries][kMostDimensions + 1], tile[kKeys][kMostDimensions + 1], weights[kQueries][kKeys + 1];
  const unsigned head = blockIdx.y, first = blockIdx.x * kQueries, query = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
  const unsigned token = first + query, width = heads * dimensions;
  for (unsigned i = threadIdx.x; i < kQueries * dimensions; i += 256) {
    const unsigned q = i / dimensions, d = i % dimensions;
    query_tile[q][d] =
        first + q < tokens ? static_cast<float>(queries[static_cast<size_t>(first + q) * width + head * dimensions + d]) : 0.0f;
  }
  const auto load = [&](const T* cache, unsigned key0, unsigned count) {
    __syncthreads();
    const T* const from = cache + (static_cast<size_t>(head) * positions + key0) * dimensions;
    for (unsigned i = threadIdx.x; i < count * dimensions; i += 256)
      tile[i / dimensions][i % dimensions] = static_cast<float>(from[i]);
    __syncthreads();
  };
  float most = -INFINITY, sum = 0.0f, weighted[kEach] = {};
  const unsigned seen = context + token + 1;  // keys visible to this query
  const unsigned keys = context + min(first + kQueries, tokens);
  for (unsigned key0 = 0; key0 < keys; key0 += kKeys) {
    const unsigned count = min(kKeys, keys - key0);
    load(key_cache, key0, count);
    float scores[kKeys / kLanes], largest = most;
#pragma unroll
    for (unsigned i = 0; i < kKeys / kLanes; ++i) {
      const unsigned key = lane + i * kLanes;
      float score = 0.0f;
      for (unsigned d = 0; d < dimensions; ++d) score += query_tile[query][d] * tile[key][d];
      scores[i] = key < count && key0 + key < seen ? score * scale : -INFINITY;
      largest = fmaxf(largest, scores[i]);
    }
    largest = wave_max(largest, kLanes);
    // The first key is visible to all queries, so that `largest` is finite.
    const float shrink = expf(most - largest);
    float added = 0.0f;
#pragma unroll
    for (unsigned i = 0; i < kKeys / kLanes; ++i) {
      const float weight = expf(scores[i] - largest);
      weights[query][lane + i * kLanes] = weight;
      added += weight;
    }
    sum = sum * shrink + wave_sum(added, kLanes);
    most = largest;
    load(value_cache, key0, count);
#pragma unroll
    for (unsigned i = 0; i < kEach; ++i) weighted[i] *= shrink;
    for (unsigned key = 0; key < count; ++key) {
      const float weight = weights[query][key];
#pragma unroll
      for (unsigned i = 0; i < kEach; ++i) {
        const unsigned d = lane + i * kLanes;
        if (d < dimensions) weighted[i] += weight * tile[key][d];
      }
    }
  }
  if (token >= tokens) return;
#pragma unroll
  for (unsigned i = 0; i < kEach; ++i) {
    const unsigned d = lane + i * kLanes;
    if (d < dimensions) y[static_cast<size_t>(token) * width + head * dimensions + d] = static_cast<T>(weighted[i] / sum);
  }
}

/// gate = gate / (1 + exp(-gate)) * up.
template <typename T>
__device__ inline void silu_multiply(T* gate, const T* up, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const auto g = static_cast<float>(gate[i]);
  gate[i] = static_cast<T>(g / (1.0f + expf(-g)) * static_cast<float>(up[i]));
}

/// The kernels of an element type.
template <typename T>
struct Kernels;

}  // namespace llama7b

#define LLAMA_KERNELS(T, suffix)                                                                                               \
  extern "C" __global__ void __launch_bounds__(256) rms_norm_##suffix(const T* x, const T* gain, T* y, unsigned features) {    \
    llama7b::rms_norm(x, gain, y, features);                                                                                   \
  }                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(256)                                                                            \
      gemv_##suffix(const T* __restrict__ weights, const T* __restrict__ x, T* __restrict__ y, unsigned rows, unsigned depth,  \
                    bool accumulate) {                                                                                         \
    llama7b::gemv(weights, x, y, rows, depth, accumulate);                                                                     \
  }                                                                                                                            \
  GEMM_KERNELS(gemm_##suffix, T, T, false, true)                                                                               \
  GEMM_WORDS_KERNEL(gemm_##suffix##_words_to_float, T, float)                                                                  \
  GEMM_TRANSPOSE_KERNEL(transpose_##suffix, T, T)                                                                              \
  GEMM_TRANSPOSE_KERNEL(transpose_from_float_##suffix, float, T)                                                               \
  extern "C" __global__ void __launch_bounds__(256) gemm_sum_parts_##suffix(gemm::PartsArguments<T> x) { gemm::sum_parts(x); } \
  extern "C" __global__ void __launch_bounds__(256) rotary_embedding_##suffix(                                                 \
      T* queries, const T* keys, const T* values, T* key_cache, T* value_cache, const float2* rotations, unsigned heads,       \
      unsigned dimensions, unsigned context, unsigned positions) {                                                             \
    llama7b::rotate(queries, keys, values, key_cache, value_cache, rotations, heads, dimensions, context, positions);          \
  }                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(256)                                                                            \
      attention_decode_##suffix(const T* queries, const T* key_cache, const T* value_cache, float* parts, unsigned dimensions, \
                                unsigned length, unsigned positions, float scale) {                                            \
    llama7b::attention_decode(queries, key_cache, value_cache, parts, dimensions, length, positions, scale);                   \
  }                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(128)                                                                            \
      attention_combine_##suffix(const float* parts, T* y, unsigned dimensions, unsigned chunks) {                             \
    llama7b::attention_combine(parts, y, dimensions, chunks);                                                                  \
  }                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(256)                                                                            \
      attention_prefill_##suffix(const T* queries, const T* key_cache, const T* value_cache, T* y, unsigned heads,             \
                                 unsigned dimensions, unsigned tokens, unsigned context, unsigned positions, float scale) {    \
    llama7b::attention_prefill(queries, key_cache, value_cache, y, heads, dimensions, tokens, context, positions, scale);      \
  }                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(256) silu_multiply_##suffix(T* gate, const T* up, unsigned count) {             \
    llama7b::silu_multiply(gate, up, count);                                                                                   \
  }                                                                                                                            \
  template <>                                                                                                                  \
  struct llama7b::Kernels<T> {                                                                                                 \
    static constexpr auto rms_norm = rms_norm_##suffix;                                                                        \
    static constexpr auto gemv = gemv_##suffix;                                                                                \
    static constexpr auto words_to_float = gemm_##suffix##_words_to_float;                                                     \
    static constexpr auto transpose = transpose_##suffix;                                                                      \
    static constexpr auto transpose_from_float = transpose_from_float_##suffix;                                                \
    static const gemm::Product<T, T>& product() { return gemm_##suffix; }                                                      \
    static gemm::Helpers<T, T> helpers() { return {gemm_sum_parts_##suffix, transpose_##suffix}; }                             \
    static constexpr auto rotate = rotary_embedding_##suffix;                                                                  \
    static constexpr auto attention_decode = attention_decode_##suffix;                                                        \
    static constexpr auto attention_combine = attention_combine_##suffix;                                                      \
    static constexpr auto attention_prefill = attention_prefill_##suffix;                                                      \
    static constexpr auto silu_multiply = silu_multiply_##suffix;                                                              \
  };

LLAMA_KERNELS(float, fp32)
LLAMA_KERNELS(_Float16, fp16)
