#include "host_machine.h"

#include <ucontext.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "matrix_tile.h"

namespace lacuna::programs {
namespace {

constexpr std::size_t kStackBytes = std::size_t{256} << 10U;

using Index = std::array<unsigned, 3>;

struct Fiber {
  ucontext_t context{};
  Index local{};
  bool finished = false;
};

struct Machine {
  HostKernel kernel = nullptr;
  void** arguments = nullptr;
  const Launch* launch = nullptr;
  Index group{};
  Index group_size{};
  Fiber* current = nullptr;
  Fiber* first = nullptr;
  std::vector<TileOperands> tiles;  ///< operands of each work item while its wavefront computes a tile
  std::string fault;
  ucontext_t scheduler{};
};

Machine machine;

void fiber_main() {
  machine.kernel(machine.arguments);
  machine.current->finished = true;
}

void run_group(std::vector<Fiber>& fibers, std::byte* stacks) {
  const Index& size = machine.group_size;
  const unsigned items = size[0] * size[1] * size[2];
  machine.first = fibers.data();
  machine.tiles.assign(items, {});
  for (unsigned i = 0; i < items; ++i) {
    Fiber& fiber = fibers[i];
    fiber.local = {i % size[0], i / size[0] % size[1], i / size[0] / size[1]};
    fiber.finished = false;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stacks + i * kStackBytes;
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = &machine.scheduler;
    makecontext(&fiber.context, fiber_main, 0);
  }
  for (unsigned finished = 0; finished < items;) {
    for (unsigned i = 0; i < items; ++i) {
      if (fibers[i].finished) throw std::runtime_error("a barrier is reached by some work items only");
      machine.current = &fibers[i];
      swapcontext(&machine.scheduler, &fibers[i].context);
      if (!machine.fault.empty()) throw std::runtime_error(machine.fault);
      finished += fibers[i].finished ? 1 : 0;
    }
  }
}

unsigned groups_of(unsigned d) { return (machine.launch->grid[d] + machine.launch->block[d] - 1) / machine.launch->block[d]; }

/// Sets a rounding mode while the object exists. Modes are numbered as in host_builtins.h.
class RoundingMode {
 public:
  explicit RoundingMode(unsigned mode) : before_(std::fegetround()) {
    constexpr std::array kModes{FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
    std::fesetround(kModes.at(mode));
  }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;
  ~RoundingMode() { std::fesetround(before_); }

 private:
  int before_;
};

/// Rounds once: x87's long double represents every 64 bit integer and every double.
double rounded(long double x, unsigned mode, bool to_double) {
  const RoundingMode rounding(mode);
  const volatile long double from = x;
  if (to_double) {
    const volatile auto result = static_cast<double>(from);
    return result;
  }
  const volatile auto result = static_cast<float>(from);
  return result;
}

}  // namespace

// Functions declared in host_builtins.h; compiled programs link to them when they are loaded.
extern "C" {
unsigned long lacuna_work_item(unsigned what, unsigned d) {
  switch (what) {
    case 0:
      return machine.current->local[d];
    case 1:
      return machine.group_size[d];
    case 2:
      return machine.group[d];
    case 3:
      return groups_of(d);
    case 4:
      return machine.group[d] * machine.launch->block[d] + machine.current->local[d];
    default:
      return machine.launch->grid[d];
  }
}
void lacuna_barrier() { swapcontext(&machine.current->context, &machine.scheduler); }
/// Operands and result are bit patterns of the types in matrix_tiles()[tile].
void lacuna_matrix_tile(unsigned tile, const void* a, const void* b, const void* c, void* d) {
  const auto item = static_cast<std::size_t>(machine.current - machine.first);
  const std::size_t wavefront = item / kTileItems * kTileItems;
  const MatrixTile& types = matrix_tiles()[tile];
  TileOperands& own = machine.tiles[item];
  own.tile = tile;
  std::memcpy(own.a.data(), a, types.a.bytes());
  std::memcpy(own.b.data(), b, types.b.bytes());
  std::memcpy(own.c.data(), c, types.c.bytes());
  lacuna_barrier();
  const auto is_other = [&](const TileOperands& other) { return other.tile != tile; };
  if (wavefront + kTileItems > machine.tiles.size()) {
    machine.fault = "a matrix tile is computed by a part of a wavefront";
  } else if (const std::span whole(&machine.tiles[wavefront], kTileItems); std::any_of(whole.begin(), whole.end(), is_other)) {
    machine.fault = "work items of a wavefront compute different matrix tiles";
  } else {
    const auto result = tile_result(std::span<const TileOperands, kTileItems>(whole), static_cast<unsigned>(item - wavefront));
    std::memcpy(d, result.data(), types.c.bytes());
  }
  lacuna_barrier();
}
double lacuna_round_to_float(double x, unsigned mode) { return rounded(x, mode, false); }
double lacuna_round_long(long x, unsigned mode, unsigned to_double) { return rounded(x, mode, to_double != 0); }
double lacuna_round_ulong(unsigned long x, unsigned mode, unsigned to_double) { return rounded(x, mode, to_double != 0); }
double lacuna_round_to_integer(double x, unsigned mode) {
  const RoundingMode rounding(mode);
  const volatile double from = x;
  const volatile double result = std::nearbyint(from);
  return result;
}
}

void run_work_items(HostKernel kernel, void** arguments, const Launch& launch) {
  machine.kernel = kernel;
  machine.arguments = arguments;
  machine.launch = &launch;
  std::vector<Fiber> fibers(launch.group_items());
  const std::unique_ptr<std::byte[]> stacks(new std::byte[fibers.size() * kStackBytes]);
  for (unsigned z = 0; z < groups_of(2); ++z) {
    for (unsigned y = 0; y < groups_of(1); ++y) {
      for (unsigned x = 0; x < groups_of(0); ++x) {
        machine.group = {x, y, z};
        for (unsigned d = 0; d < 3; ++d) {
          machine.group_size[d] = std::min(launch.block[d], launch.grid[d] - machine.group[d] * launch.block[d]);
        }
        run_group(fibers, stacks.get());
      }
    }
  }
}

}  // namespace lacuna::programs
