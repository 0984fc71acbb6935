// Speed of the hart as a SystemC module, with RAM accessed by DMI and the default quantum: million guest instructions per
// second of one core, for each workload. Measures processor time, so that other load on the machine does not matter.
#include <cstdio>
#include <ctime>
#include <string>
#include <systemc>

#include "include/lacuna/abi/memory_map.h"
#include "models/common/transport/backing_store.h"
#include "models/host/devices/bus.h"
#include "models/host/devices/ram.h"
#include "models/host/rv64/hart.h"
#include "tests/host/flat_image.h"

namespace lacuna {
namespace {

constexpr Bytes kRamSize{4u << 20};

/// The smallest platform that a hart runs on: a bus, and RAM from LACUNA_RAM_BASE.
class Bench : public sc_core::sc_module {
 public:
  explicit Bench(sc_core::sc_module_name name)
      : sc_module(name), store_(kRamSize), hart("hart", {}), bus_("bus", {}, 1), ram_("ram", {}, store_, 0, kRamSize) {
    bus_.map("ram", LACUNA_RAM_BASE, kRamSize, ram_.bus);
    hart.bus.bind(bus_.initiators[0]);
    hart.machine_external_interrupt.bind(low_);
    hart.machine_timer_interrupt.bind(low_);
    hart.machine_software_interrupt.bind(low_);
    hart.set_console({[this](std::string_view bytes) { mark(bytes); }, {}});
    hart.set_exit_callback([this](int code) {
      exit_code = code;
      sc_core::sc_stop();
    });
    hart.attach_semihosting({});
    test::load_flat_image(LACUNA_HART_WORKLOADS, {store_.data(), kRamSize.n});
  }

  int exit_code = 1;

 private:
  BackingStore store_;

 public:
  Hart hart;

 private:
  static double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

  void mark(std::string_view bytes) {
    line_ += bytes;
    const double now = processor_seconds();
    const std::uint64_t instructions = hart.statistics().instructions;
    if (line_ == "begin ") return;
    if (line_ == "end ") {
      seconds_ = now - start_;
      instructions_ = instructions - first_instruction_;
      return;
    }
    if (line_.starts_with("end ")) {
      std::printf("%-8s %12llu instructions %8.3f s %8.1f million instructions/s\n", line_.c_str() + 4,
                  static_cast<unsigned long long>(instructions_), seconds_,
                  static_cast<double>(instructions_) / seconds_ * 1e-6);
    }
    line_.clear();
    start_ = processor_seconds();
    first_instruction_ = instructions;
  }

  HostBus bus_;
  Ram ram_;
  sc_core::sc_signal<bool> low_;
  std::string line_;
  double start_ = 0;
  std::uint64_t first_instruction_ = 0;
  std::uint64_t instructions_ = 0;
  double seconds_ = 0;
};

}  // namespace
}  // namespace lacuna

int sc_main(int, char**) {
  lacuna::Bench bench("bench");
  sc_core::sc_start();
  if (bench.exit_code != 0) std::fprintf(stderr, "hart_bench: the program ended with %d\n", bench.exit_code);
  return bench.exit_code;
}
