// The tests of one process of a program that holds those of several files (PROGRAM of lacuna_test).
#pragma once

#include <string>
#include <vector>

namespace lacuna::test {

/// Selects the tests that the files of --tests_of=FILE (an absolute path; may be repeated) define, unless --gtest_filter
/// selects others; without --tests_of, all. Call it after InitGoogleTest. Returns the files. Throws std::logic_error for a file
/// that defines none, so that missing tests are detected.
std::vector<std::string> select_tests(int argc, char** argv);

}  // namespace lacuna::test
