// GoogleTest inside SystemC. Link lacuna_test_harness (lacuna_test(... SYSTEMC)) and choose one of two forms.
//
// 1. A bench: the modules under test are members of an sc_module, registered with LACUNA_TEST_BENCH. It is elaborated once
//    per process, and all TESTs run in order inside one of its SystemC threads, so that they may call b_transport and wait().
//    In a program with several benches, --tests_of selects the bench of the first file that it names.
//
//      struct UartBench : sc_core::sc_module {
//        explicit UartBench(sc_core::sc_module_name n) : sc_module(n) { initiator.socket.bind(uart.bus); }
//        TestInitiator initiator{"initiator"};
//        Uart uart{"uart", {}};
//      };
//      LACUNA_TEST_BENCH(UartBench)
//      TEST(Uart, Scratch) { auto& b = bench<UartBench>(); ... }
//
// 2. No bench: TESTs run before elaboration, in sc_main. One of them may build modules and call sc_start().
//
// A program may contain the tests of several files, each of which runs in a separate process: --tests_of=FILE (may be repeated)
// selects the tests that FILE, an absolute path, defines.
//
// A SystemC report of severity warning or above fails the running test. The test also fails if the simulation ends while it is
// running, for instance because it waits for an event that never occurs.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <systemc>

#include "models/common/time/units.h"

namespace lacuna::test {

using BenchFactory = std::function<std::unique_ptr<sc_core::sc_module>()>;

/// Registers the factory of a source file; used by LACUNA_TEST_BENCH. Throws std::logic_error if the file already has one.
bool register_bench(const char* file, BenchFactory factory);
/// The module that the registered factory has created.
sc_core::sc_module& bench_module();

template <class Bench>
Bench& bench() {
  return dynamic_cast<Bench&>(bench_module());
}

/// While an object exists, SystemC reports of its severity are counted and do not fail the test.
class ExpectReports {
 public:
  explicit ExpectReports(sc_core::sc_severity severity);
  ~ExpectReports();
  ExpectReports(const ExpectReports&) = delete;
  ExpectReports& operator=(const ExpectReports&) = delete;
  unsigned count() const { return count_; }

 private:
  friend void report_handler(const sc_core::sc_report& report, const sc_core::sc_actions& actions);
  sc_core::sc_severity severity_;
  unsigned count_ = 0;
  ExpectReports* outer_;
};

/// The current time of the SystemC kernel.
Tick now();
/// Advances simulated time. Only for tests with a bench.
void wait_for(Tick duration);
/// Advances delta cycles, so that signals settle. Only for tests with a bench.
void settle(unsigned deltas = 4);

/// Clock and active-low reset for models that have such ports.
class ClockReset : public sc_core::sc_module {
 public:
  ClockReset(sc_core::sc_module_name module_name, Tick period)
      : sc_module(module_name), clock("clock", sc_core::sc_time::from_value(period.ps)), period_(period) {
    reset_n.write(true);
  }
  /// Asserts reset for `cycles` clock cycles.
  void pulse(Cycles cycles) {
    reset_n.write(false);
    wait_for(period_ * cycles.n);
    reset_n.write(true);
    settle();
  }

  sc_core::sc_clock clock;
  sc_core::sc_signal<bool, sc_core::SC_MANY_WRITERS> reset_n{"reset_n"};

 private:
  Tick period_;
};

}  // namespace lacuna::test

namespace lacuna {

// Formats of values in GoogleTest's messages.
inline void PrintTo(Tick t, std::ostream* out) { *out << t.ps << " ps"; }
inline void PrintTo(Cycles c, std::ostream* out) { *out << c.n << " cycles"; }
inline void PrintTo(Bytes b, std::ostream* out) { *out << b.n << " bytes"; }

}  // namespace lacuna

#define LACUNA_TEST_BENCH(Type) LACUNA_TEST_BENCH_NUMBERED(Type, __COUNTER__)
#define LACUNA_TEST_BENCH_NUMBERED(Type, number) LACUNA_TEST_BENCH_NAMED(Type, number)
#define LACUNA_TEST_BENCH_NAMED(Type, number)                                                \
  [[maybe_unused]] static const bool lacuna_bench_##number = ::lacuna::test::register_bench( \
      __FILE__, []() -> std::unique_ptr<sc_core::sc_module> { return std::make_unique<Type>("bench"); });
