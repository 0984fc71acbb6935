// Tests prepared matrices: files are written and read back; truncated and modified files are rejected.
#include "models/sida/matrix/prepared.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "models/sida/matrix/generators.h"
#include "models/sida/matrix/random.h"

namespace lacuna::sida {
namespace {

class Prepared : public testing::Test {
 protected:
  Prepared() : file_(std::filesystem::temp_directory_path() / ("lacuna-prepared-" + std::to_string(getpid()))) {}
  ~Prepared() override { std::filesystem::remove(file_); }

  void write(const std::string& bytes) {
    std::filesystem::remove(file_);
    std::ofstream(file_, std::ios::binary) << bytes;
  }
  static std::string bytes_of(const SparseMatrix& matrix) {
    std::ostringstream out;
    write_prepared(matrix, out);
    return out.str();
  }
  std::string refused(const std::string& bytes) {
    write(bytes);
    try {
      read_prepared(file_);
    } catch (const MatrixError& e) {
      return std::string(e.what()).substr(file_.string().size() + 2);
    }
    return "read";
  }

  std::filesystem::path file_;
};

TEST_F(Prepared, RoundTrip) {
  for (const char* const kind :
       {"power:rows=3000,entries=30000", "mesh2d:rows=100,pattern=1", "random:rows=1,entries=0", "road:rows=500"}) {
    const SparseMatrix made = generated(kind);
    write(bytes_of(made));
    EXPECT_TRUE(is_prepared(file_));
    const SparseMatrix read = read_prepared(file_);
    EXPECT_EQ(read.rows, made.rows);
    EXPECT_EQ(read.columns, made.columns);
    EXPECT_EQ(read.offsets, made.offsets);
    EXPECT_EQ(read.indices, made.indices);
    EXPECT_EQ(read.values, made.values);
  }
  write("%%MatrixMarket");
  EXPECT_FALSE(is_prepared(file_));
  EXPECT_FALSE(is_prepared(file_.string() + ".none"));
}

TEST_F(Prepared, DamageIsFound) {
  const std::string bytes = bytes_of(generated("random:rows=20,entries=60"));
  EXPECT_EQ(refused(bytes.substr(0, 20)), "the prepared matrix ends too early");
  EXPECT_EQ(refused("not one of these, but as long as one"), "is not a prepared matrix");
  std::string other = bytes;
  other[8] = 2;
  EXPECT_EQ(refused(other), "is a prepared matrix of version 2, not 1: prepare it again");
  EXPECT_EQ(refused(bytes.substr(0, bytes.size() - 1)), "the prepared matrix has another size than its header says");
  EXPECT_EQ(refused(bytes + '\0'), "the prepared matrix has another size than its header says");
  Random random(9);
  for (int i = 0; i < 2000; ++i) {
    std::string changed = bytes;
    changed[random.below(static_cast<Index>(bytes.size()))] ^= static_cast<char>(1U << random.below(8));
    EXPECT_NE(refused(changed), "read");
    changed.resize(random.below(static_cast<Index>(bytes.size())));
    EXPECT_NE(refused(changed), "read");
  }
}

}  // namespace
}  // namespace lacuna::sida
