// Selects the tests of a process, for programs that contain the tests of several files (PROGRAM of lacuna_test).
#pragma once

#include <string>
#include <vector>

namespace lacuna::test {

/// Selects the tests that the files of --tests_of=FILE (an absolute path; may be repeated) define, unless --gtest_filter
/// selects others; without --tests_of, all tests. Call after InitGoogleTest. Returns the files. Throws std::logic_error for a
/// file that defines no tests, so that missing tests are detected.
std::vector<std::string> select_tests(int argc, char** argv);

}  // namespace lacuna::test
