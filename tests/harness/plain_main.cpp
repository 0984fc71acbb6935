// The main() of programs without SystemC that contain the tests of several files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/test_selection.h"

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  lacuna::test::select_tests(argc, argv);
  return RUN_ALL_TESTS();
}
