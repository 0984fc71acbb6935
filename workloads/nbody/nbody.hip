// Simulates gravity between all pairs of bodies, with softening, by steps of constant acceleration. Tiles of bodies pass
// through LDS and are used by the whole workgroup (Nyland, Harris and Prins, GPU Gems 3, chapter 31). As in AMD APP SDK's
// NBody, positions are from 3 to 50, masses from 1 to 1000, softening 500, steps of 0.005; sizes are MGPUSim's.
#include <hip/hip_runtime.h>

#include <algorithm>
#include <array>
#include <utility>

#include "workloads/common/program.h"

constexpr unsigned group_size = 256;
constexpr float softening = 500.0f, time_step = 0.005f;

// A body is (x, y, z, mass). The number of bodies is padded to whole workgroups with bodies of mass 0.
__global__ void __launch_bounds__(group_size)
    step(const float4* __restrict__ bodies, const float4* __restrict__ velocities, float4* __restrict__ next_bodies,
         float4* __restrict__ next_velocities, unsigned count) {
  __shared__ float4 tile[group_size];
  const unsigned i = blockIdx.x * group_size + threadIdx.x;
  const float4 self = bodies[i];
  float ax = 0, ay = 0, az = 0;
  for (unsigned first = 0; first < count; first += group_size) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (unsigned j = 0; j < group_size; ++j) {
      const float4 other = tile[j];
      const float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
      const float inverse = __frsqrt_rn(softening + dz * dz + dy * dy + dx * dx);
      const float factor = other.w * inverse * inverse * inverse;
      ax += factor * dx, ay += factor * dy, az += factor * dz;
    }
    __syncthreads();
  }
  const float4 velocity = velocities[i];
  constexpr float half_square = 0.5f * time_step * time_step;
  next_bodies[i] =
      make_float4(self.x + time_step * velocity.x + half_square * ax, self.y + time_step * velocity.y + half_square * ay,
                  self.z + time_step * velocity.z + half_square * az, self.w);
  next_velocities[i] = make_float4(velocity.x + time_step * ax, velocity.y + time_step * ay, velocity.z + time_step * az, 0);
}

struct State {
  std::vector<std::array<double, 3>> positions, velocities;
};

// Computes a step in double precision. Returns the largest sum of acceleration magnitudes over all bodies and dimensions.
static double reference_step(State& state, const std::vector<float>& masses) {
  const double dt = time_step;
  State next = state;
  double largest = 0;
  for (size_t i = 0; i < masses.size(); ++i) {
    std::array<double, 3> acceleration{}, magnitude{};
    for (size_t j = 0; j < masses.size(); ++j) {
      std::array<double, 3> d;
      double square = softening;
      for (int c = 0; c < 3; ++c) {
        d[c] = state.positions[j][c] - state.positions[i][c];
        square += d[c] * d[c];
      }
      const double factor = masses[j] / (square * std::sqrt(square));
      for (int c = 0; c < 3; ++c) acceleration[c] += factor * d[c], magnitude[c] += std::fabs(factor * d[c]);
    }
    for (int c = 0; c < 3; ++c) {
      next.positions[i][c] += dt * state.velocities[i][c] + 0.5 * dt * dt * acceleration[c];
      next.velocities[i][c] += dt * acceleration[c];
      largest = std::max(largest, magnitude[c]);
    }
  }
  state = std::move(next);
  return largest;
}

int main(int argc, char** argv) {
  workload::Program program("nbody", "Gravity between all pairs of bodies",
                            "LazyGPU (ISCA '25), Table 3: NBody of AMD APP SDK");
  int bodies = 0, steps = 0;
  program.size(bodies, "bodies", "bodies", {768, 1024, 8192}, 1, 1 << 20);
  program.size(steps, "steps", "steps of time", {1, 8, 1});
  return program.run(argc, argv, [&] {
    const size_t padded = size_t{workload::groups(bodies, group_size)} * group_size;
    std::vector<float> start(padded * 4), masses;
    State state;
    for (size_t i = 0; i < size_t(bodies); ++i) {
      for (size_t c = 0; c < 3; ++c) start[i * 4 + c] = program.random().uniform(3, 50);
      masses.push_back(start[i * 4 + 3] = program.random().uniform(1, 1000));
      state.positions.push_back({start[i * 4], start[i * 4 + 1], start[i * 4 + 2]});
    }
    state.velocities.resize(masses.size());
    const std::vector<float> at_rest(padded * 4);
    const workload::DeviceArray<float> positions("the bodies", start), velocities("the velocities", at_rest);
    const workload::DeviceArray<float> next_positions("the next bodies", start.size()),
        next_velocities("the next velocities", start.size());
    const float* final_positions = nullptr;
    program.measure([&] { positions.upload(start), velocities.upload(at_rest); },
                    [&] {
                      const auto four = [](float* data) { return reinterpret_cast<float4*>(data); };
                      float4 *from = four(positions.data()), *from_velocities = four(velocities.data());
                      float4 *to = four(next_positions.data()), *to_velocities = four(next_velocities.data());
                      for (int i = 0; i < steps; ++i) {
                        step<<<padded / group_size, group_size>>>(from, from_velocities, to, to_velocities, padded);
                        std::swap(from, to), std::swap(from_velocities, to_velocities);
                      }
                      final_positions = &from->x;
                    });
    if (!program.checks()) return;
    double acceleration = 0;
    for (int i = 0; i < steps; ++i) acceleration = std::max(acceleration, reference_step(state, masses));
    const bool in_place = final_positions == positions.data();
    const std::vector<float> got_positions = (in_place ? positions : next_positions).download();
    const std::vector<float> got_velocities = (in_place ? velocities : next_velocities).download();
    std::vector<float> position, velocity;
    std::vector<double> expected_position, expected_velocity;
    double size = 0, speed = 0;
    for (size_t i = 0; i < masses.size(); ++i) {
      for (size_t c = 0; c < 3; ++c) {
        position.push_back(got_positions[i * 4 + c]), velocity.push_back(got_velocities[i * 4 + c]);
        expected_position.push_back(state.positions[i][c]), expected_velocity.push_back(state.velocities[i][c]);
        size = std::max(size, std::fabs(expected_position.back())),
        speed = std::max(speed, std::fabs(expected_velocity.back()));
      }
    }
    // A pair's force has about 16 roundings; the sum adds one for each body. The increment of the velocity has the relative
    // error of this sum, and velocity and position are rounded in each step. The effect of position errors on forces is much
    // smaller, as dt is small.
    const double velocity_error = steps * (time_step * workload::sum_error(bodies + 16.0) * acceleration + 0x1p-23 * speed);
    program.check_near("velocity", velocity, expected_velocity, [&](size_t) { return velocity_error; });
    const double position_error = steps * (time_step * velocity_error + 0x1p-22 * size);
    program.check_near("position", position, expected_position, [&](size_t) { return position_error; });
  });
}
