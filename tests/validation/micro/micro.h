// Common parts of the tests that recover a machine's parameters by measurement: the table of results, next to the configured
// values.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/validation/micro/machine.h"
#include "tests/validation/reference_table.h"

namespace lacuna::validation {

struct Variant {
  std::string name;
  std::string configuration;
  std::vector<std::string> settings;
};

/// Fixture of the tests: writes their results to validation/TABLE in the build directory.
class Micro : public testing::Test {
 protected:
  explicit Micro(const std::string& table) : results_(table, {"machine"}) {}
  void expect(const Machine& machine, const std::string& quantity, double recovered, double configured) {
    results_.add({machine.name()}, quantity, recovered, configured, 0);
    EXPECT_EQ(recovered, configured) << machine.name() << ": " << quantity;
  }
  Comparison& results() { return results_; }

 private:
  Comparison results_;
};

}  // namespace lacuna::validation
