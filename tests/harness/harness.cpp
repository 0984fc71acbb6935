#include "tests/harness/harness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <vector>

#include "models/common/time/tlm_time.h"
#include "tests/harness/test_selection.h"

namespace lacuna::test {
namespace {

/// Registered benches, by path of their source file.
std::map<std::string, BenchFactory>& factories() {
  static std::map<std::string, BenchFactory> instance;
  return instance;
}

/// The bench that `file` has registered, or without a file the only bench of the program. Null if there is none.
const BenchFactory* factory_of(const std::string& file) {
  if (file.empty() && factories().size() > 1) throw std::logic_error("several benches: use --tests_of=FILE to select one");
  for (const auto& [path, factory] : factories())
    if (file.empty() || path == file) return &factory;
  return nullptr;
}

std::unique_ptr<sc_core::sc_module>& module_instance() {
  static std::unique_ptr<sc_core::sc_module> instance;
  return instance;
}

ExpectReports* innermost_expectation = nullptr;

constexpr std::size_t kTestStackBytes = std::size_t{8} << 20;

}  // namespace

void report_handler(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  for (ExpectReports* e = innermost_expectation; e != nullptr; e = e->outer_) {
    if (e->severity_ != report.get_severity()) continue;
    ++e->count_;
    // An expected report is not printed and does not fail the test; an error still throws its exception where it was reported.
    sc_core::sc_report_handler::default_handler(report, actions & (sc_core::SC_THROW | sc_core::SC_ABORT));
    return;
  }
  if (report.get_severity() >= sc_core::SC_WARNING) {
    ADD_FAILURE() << "SystemC " << report.get_msg_type() << ": " << report.get_msg();
  }
  sc_core::sc_report_handler::default_handler(report, actions);
}

ExpectReports::ExpectReports(sc_core::sc_severity severity) : severity_(severity), outer_(innermost_expectation) {
  innermost_expectation = this;
}

ExpectReports::~ExpectReports() { innermost_expectation = outer_; }

bool register_bench(const char* file, BenchFactory make) {
  if (!factories().emplace(file, std::move(make)).second) throw std::logic_error(std::string("two benches in ") + file);
  return true;
}

sc_core::sc_module& bench_module() {
  if (!module_instance()) throw std::logic_error("no bench: use LACUNA_TEST_BENCH");
  return *module_instance();
}

Tick now() { return to_tick(sc_core::sc_time_stamp()); }

void wait_for(Tick duration) { sc_core::wait(to_sc_time(duration)); }

void settle(unsigned deltas) {
  for (unsigned i = 0; i < deltas; ++i) sc_core::wait(sc_core::SC_ZERO_TIME);
}

/// Module that runs all tests inside one SystemC thread.
struct Runner : sc_core::sc_module {
  explicit Runner(sc_core::sc_module_name module_name) : sc_module(module_name) {
    SC_HAS_PROCESS(Runner);
    SC_THREAD(run);
    set_stack_size(kTestStackBytes);
  }
  void run() {
    result = RUN_ALL_TESTS();
    finished = true;
    sc_core::sc_stop();
  }
  int result = 1;
  bool finished = false;
};

int run_tests(const std::vector<std::string>& files) {
  sc_core::sc_report_handler::set_handler(report_handler);
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_, sc_core::SC_DO_NOTHING);
  const BenchFactory* factory = factory_of(files.empty() ? "" : files.front());
  if (factory == nullptr) return RUN_ALL_TESTS();

  module_instance() = (*factory)();
  Runner runner("runner");
  sc_core::sc_set_stop_mode(sc_core::SC_STOP_IMMEDIATE);
  sc_core::sc_start();
  if (!runner.finished) {
    const auto* running = testing::UnitTest::GetInstance()->current_test_info();
    std::cerr << "the simulation ended before the tests did, in "
              << (running != nullptr ? std::string(running->test_suite_name()) + "." + running->name() : "no test") << '\n';
    return 1;
  }
  module_instance().reset();
  return runner.result;
}

}  // namespace lacuna::test

int sc_main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  return lacuna::test::run_tests(lacuna::test::select_tests(argc, argv));
}

int main(int argc, char** argv) {
  setenv("SC_COPYRIGHT_MESSAGE", "DISABLE", 1);
  return sc_core::sc_elab_and_sim(argc, argv);
}
