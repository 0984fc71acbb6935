// GoogleTest inside SystemC. Link lacuna_test_harness (lacuna_test(... SYSTEMC)) and choose one of two forms.
//
// 1. A bench: the modules under test are members of an sc_module, registered with LACUNA_TEST_BENCH. It is elaborated once
//    per process, and all TESTs run in order inside one SystemC thread of it, so they may call b_transport and wait(). Of a
//    program with several benches, --tests_of selects the one of its first file.
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
// A program may hold the tests of several files, which run in a process each: --tests_of=FILE (may be repeated) selects those
// that FILE, an absolute path, defines.
//
// A SystemC report of severity warning or above fails the test that is running; so does a simulation that ends before the last
// test did (a test that waits for an event that never occurs).
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <systemc>

#include "models/common/time/units.h"

namespace lacuna::test {

using BenchFactory = std::function<std::unique_ptr<sc_core::sc_module>()>;

/// Registers the factory of a source file; used by LACUNA_TEST_BENCH. Throws std::logic_error for the file's second.
bool register_bench(const char* file, BenchFactory factory);
/// The module made by the registered factory.
sc_core::sc_module& bench_module();

template <class Bench>
Bench& bench() {
  return dynamic_cast<Bench&>(bench_module());
}

/// While one exists, SystemC reports of that severity do not fail the test but are counted.
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

/// The kernel's time.
Tick now();
/// Advances simulated time. Only in a bench's tests.
void wait_for(Tick duration);
/// Advances delta cycles (signals settle). Only in a bench's tests.
void settle(unsigned deltas = 4);

/// Active-low reset and clock for models that have such ports.
class ClockReset : public sc_core::sc_module {
 public:
  ClockReset(sc_core::sc_module_name module_name, Tick period)
      : sc_module(module_name), clock("clock", sc_core::sc_time::from_value(period.ps)), period_(period) {
    reset_n.write(true);
  }
  /// Holds reset for that many cycles.
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

// Formats for GoogleTest's messages.
inline void PrintTo(Tick t, std::ostream* out) { *out << t.ps << " ps"; }
inline void PrintTo(Cycles c, std::ostream* out) { *out << c.n << " cycles"; }
inline void PrintTo(Bytes b, std::ostream* out) { *out << b.n << " bytes"; }

}  // namespace lacuna

#define LACUNA_TEST_BENCH(Type) LACUNA_TEST_BENCH_NUMBERED(Type, __COUNTER__)
#define LACUNA_TEST_BENCH_NUMBERED(Type, number) LACUNA_TEST_BENCH_NAMED(Type, number)
#define LACUNA_TEST_BENCH_NAMED(Type, number)                                                \
  [[maybe_unused]] static const bool lacuna_bench_##number = ::lacuna::test::register_bench( \
      __FILE__, []() -> std::unique_ptr<sc_core::sc_module> { return std::make_unique<Type>("bench"); });
