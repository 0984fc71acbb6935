#include "tests/harness/test_selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>

namespace lacuna::test {

std::vector<std::string> select_tests(int argc, char** argv) {
  constexpr std::string_view kTestsOf = "--tests_of=";
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i)
    if (const std::string_view word = argv[i]; word.starts_with(kTestsOf)) files.emplace_back(word.substr(kTestsOf.size()));
  if (files.empty()) return files;

  std::string filter;
  std::set<std::string> found;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const testing::TestInfo& test = *suite.GetTestInfo(t);
      if (std::find(files.begin(), files.end(), test.file()) == files.end()) continue;
      found.insert(test.file());
      filter += std::string(suite.name()) + '.' + test.name() + ':';
    }
  }
  for (const std::string& file : files)
    if (found.count(file) == 0) throw std::logic_error("no tests in " + file);
  if (GTEST_FLAG_GET(filter) == "*") GTEST_FLAG_SET(filter, filter);
  return files;
}

}  // namespace lacuna::test
