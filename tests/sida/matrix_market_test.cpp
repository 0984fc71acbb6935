// Tests the reader of Matrix Market files: supported contents, errors, and randomly damaged files.
#include "models/sida/matrix/matrix_market.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "models/sida/matrix/generators.h"
#include "models/sida/matrix/random.h"

namespace lacuna::sida {
namespace {

class MatrixMarket : public testing::Test {
 protected:
  MatrixMarket() {
    std::string name = (std::filesystem::temp_directory_path() / "lacuna-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    file_ = folder_ / "m.mtx";
  }
  ~MatrixMarket() override { std::filesystem::remove_all(folder_); }

  ReadMatrix read(const std::string& text, bool as_stored = false) {
    std::filesystem::remove(file_);  // truncating an existing file would make some file systems write it back
    std::ofstream(file_, std::ios::binary) << text;
    return read_matrix_market(file_, {.as_stored = as_stored});
  }
  /// Reads invalid contents and returns the error message without the file's name.
  std::string refused(const std::string& text) {
    try {
      read(text);
    } catch (const MatrixError& e) {
      const std::string message = e.what();
      EXPECT_TRUE(message.starts_with(file_.string() + ':')) << message;
      return message.substr(file_.string().size() + 1);
    }
    return "read";
  }

  std::filesystem::path folder_, file_;
};

std::string text_of(const SparseMatrix& m) {
  std::ostringstream out;
  write_matrix_market(m, out);
  std::string text = out.str();
  return text.substr(text.find('\n') + 1);
}

TEST_F(MatrixMarket, ReadsAllKinds) {
  const std::string coordinate = "%%MatrixMarket matrix coordinate ";
  EXPECT_EQ(text_of(read(coordinate + "real general\n% a comment\n\n2 3 3\n2 1 -1.5e1\n% one more\n1 3 +.5\n1 1 2\n").matrix),
            "2 3 3\n1 1 2\n2 1 -15\n1 3 0.5\n");
  EXPECT_EQ(text_of(read("%%matrixmarket MATRIX Coordinate Integer General\r\n1 2 1\r\n1 2 -7\r\n").matrix), "1 2 1\n1 2 -7\n");
  EXPECT_EQ(text_of(read(coordinate + "pattern general\n3 3 2\n3 1\n1 2").matrix), "3 3 2\n3 1\n1 2\n");
  const std::string symmetric = coordinate + "real symmetric\n3 3 3\n1 1 4\n2 1 5\n3 2 6\n";
  EXPECT_EQ(text_of(read(symmetric).matrix), "3 3 5\n1 1 4\n2 1 5\n1 2 5\n3 2 6\n2 3 6\n");
  EXPECT_EQ(text_of(read(symmetric, true).matrix), "3 3 3\n1 1 4\n2 1 5\n3 2 6\n");
  EXPECT_EQ(read(symmetric).stored, 3U);
  EXPECT_EQ(read(symmetric).symmetry, Symmetry::symmetric);
  EXPECT_EQ(text_of(read(coordinate + "integer skew-symmetric\n2 2 1\n2 1 3\n").matrix), "2 2 2\n2 1 3\n1 2 -3\n");
  const std::string array = "%%MatrixMarket matrix array ";
  EXPECT_EQ(text_of(read(array + "real general\n2 2\n1\n0\n3\n4\n").matrix), "2 2 3\n1 1 1\n1 2 3\n2 2 4\n");
  EXPECT_EQ(text_of(read(array + "integer symmetric\n2 2\n1\n2\n3\n").matrix), "2 2 4\n1 1 1\n2 1 2\n1 2 2\n2 2 3\n");
  EXPECT_EQ(text_of(read(array + "real skew-symmetric\n3 3\n1\n2\n3\n").matrix),
            "3 3 6\n2 1 1\n3 1 2\n1 2 -1\n3 2 3\n1 3 -2\n2 3 -3\n");
  EXPECT_EQ(text_of(read(coordinate + "real general\n0 0 0\n").matrix), "0 0 0\n");
}

TEST_F(MatrixMarket, AddsUpDuplicates) {
  const ReadMatrix general = read("%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n1 1 2\n1 1 4\n");
  EXPECT_EQ(text_of(general.matrix), "2 2 1\n1 1 7\n");
  ASSERT_EQ(general.warnings.size(), 1U);
  EXPECT_TRUE(general.warnings[0].ends_with(": 2 entries are at the place of another one, and are added to it"));
  const ReadMatrix mirrored = read("%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n2 1 1\n2 1 2\n1 1 4\n");
  EXPECT_EQ(text_of(mirrored.matrix), "2 2 3\n1 1 4\n2 1 3\n1 2 3\n");
  EXPECT_EQ(mirrored.duplicates, 1U);
}

TEST_F(MatrixMarket, ReportsErrors) {
  const std::string general = "%%MatrixMarket matrix coordinate real general\n";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "1: the file is empty; a Matrix Market file begins with %%MatrixMarket"},
      {"hello world\n", "1: a Matrix Market file begins with %%MatrixMarket, not 'hello'"},
      {"%%MatrixMarket vector coordinate real general\n", "1: 'vector' is not an object: matrix"},
      {"%%MatrixMarket matrix sparse real general\n", "1: 'sparse' is not a format: coordinate or array"},
      {"%%MatrixMarket matrix array pattern general\n", "1: an array has entries: real or integer"},
      {"%%MatrixMarket matrix coordinate complex general\n", "1: complex entries are not supported: real, integer or pattern"},
      {"%%MatrixMarket matrix coordinate real hermitian\n", "1: Hermitian matrices are complex ones, which are not supported"},
      {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n", "1: a skew-symmetric matrix has signs: real or integer"},
      {"%%MatrixMarket matrix coordinate real\n", "1: the line ends before a symmetry: general, symmetric or skew-symmetric"},
      {"%%MatrixMarket matrix coordinate real general more\n", "1: nothing may follow the symmetry: 'more'"},
      {general, "1: the file ends before the line of sizes"},
      {general + "% only this\n", "2: the file ends before the line of sizes"},
      {general + "2 2\n", "2: the line ends before the number of entries"},
      {general + "-1 2 1\n", "2: the number of rows is a whole number from 0 to 4294967295, not '-1'"},
      {general + "4294967296 2 1\n", "2: the number of rows is a whole number from 0 to 4294967295, not '4294967296'"},
      {general + "2 2 1 1\n", "2: nothing may follow the sizes: '1'"},
      {general + "2 2 1\n", "2: the file ends after 0 of 1 entries"},
      {general + "2 2 2\n1 1 1\n\n", "4: the file ends after 1 of 2 entries"},
      {general + "2 2 1\n3 1 1\n", "3: the row of an entry is a whole number from 1 to 2, not '3'"},
      {general + "2 2 1\n1 0 1\n", "3: the column of an entry is a whole number from 1 to 2, not '0'"},
      {general + "2 2 1\n1\n", "3: the line ends before the column of the entry"},
      {general + "2 2 1\n1 1\n", "3: the line ends before the value of the entry"},
      {general + "2 2 1\n1 1 one\n", "3: the value of an entry is a number, not 'one'"},
      {general + "2 2 1\n1 1 inf\n", "3: the value of an entry is a number, not 'inf'"},
      {general + "2 2 1\n1 1 1e999\n", "3: the value of an entry is not a 64-bit number: '1e999'"},
      {general + "2 2 1\n1 1 1 1\n", "3: nothing may follow an entry: '1'"},
      {general + "2 2 1\n1 1 1\n1 2 1\n", "4: more than the 1 entries of the line of sizes: '1'"},
      {general + "0 2 1\n1 1 1\n", "3: the matrix has no rows"},
      {general + "4000000000 4000000000 1\n1 1 1\n",
       " 4000000000 rows or columns for 1 entries; 1,000 for each, and for 1,000 more, are allowed"},
      {general + "2 2 18446744073709551615\n1 1 1\n", "3: the file ends after 1 of 18446744073709551615 entries"},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n",
       "2: a symmetric matrix is square: this one has 2 rows and 3 columns"},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n",
       "3: a symmetric file has the lower triangle: row 1, column 2 is above the diagonal"},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 1\n", "3: a skew-symmetric matrix has no diagonal"},
      {"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 1.5\n",
       "3: the value of an entry is a whole number, not '1.5'"},
      {"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 9007199254740993\n",
       "3: the value of an entry is beyond 2^53: '9007199254740993'"},
      {"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "5: the file ends after 3 of 4 entries"},
      {"%%MatrixMarket matrix array real general\n1 1\n1 2\n", "3: more than 1 entries: '2'"},
      {general + std::string(70000, ' ') + "\n", "2: the line has more than 65536 bytes"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(refused(text), message) << text.substr(0, 200);
  EXPECT_THROW(read_matrix_market(folder_ / "none.mtx"), MatrixError);
  EXPECT_THROW(read_matrix_market(folder_), MatrixError);
}

TEST_F(MatrixMarket, ReadsWhatItWrites) {
  for (const char* const kind : {"power:rows=300,entries=2000", "mesh3d:rows=300,pattern=1", "random:rows=1,entries=3"}) {
    const SparseMatrix made = generated(kind);
    std::ofstream out(file_);
    write_matrix_market(made, out);
    out.close();
    const SparseMatrix read = read_matrix_market(file_).matrix;
    EXPECT_EQ(read.offsets, made.offsets);
    EXPECT_EQ(read.indices, made.indices);
    EXPECT_EQ(read.values, made.values);
  }
}

TEST_F(MatrixMarket, CompressedFiles) {
  std::ostringstream text;
  write_matrix_market(generated("random:rows=2000,entries=200000"), text);
  const gzFile out = gzopen(file_.c_str(), "wb");
  gzwrite(out, text.str().data(), static_cast<unsigned>(text.str().size()));
  gzclose(out);
  std::ostringstream back;
  write_matrix_market(read_matrix_market(file_).matrix, back);
  EXPECT_TRUE(back.str() == text.str());
  // First the file is truncated, then bytes are damaged.
  std::filesystem::resize_file(file_, std::filesystem::file_size(file_) / 2);
  const auto message = [&]() -> std::string {
    try {
      read_matrix_market(file_);
    } catch (const MatrixError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_TRUE(message().ends_with(": the compressed data end too early")) << message();
  std::fstream damage(file_, std::ios::in | std::ios::out | std::ios::binary);
  damage.seekp(1000);
  damage << "changed meanwhile";
  damage.close();
  EXPECT_NE(message(), "");
}

// Any file is either read or rejected, without a crash. LACUNA_SIDA_FILES sets the number of files.
TEST_F(MatrixMarket, FilesAtRandom) {
  const char* const wanted = std::getenv("LACUNA_SIDA_FILES");
  const int count = wanted != nullptr ? std::atoi(wanted) : 4000;
  const std::vector<std::string> seeds{
      "%%MatrixMarket matrix coordinate real general\n% c\n4 5 4\n1 1 1.5\n4 5 -2e3\n2 3 7\n2 3 1\n",
      "%%MatrixMarket matrix coordinate pattern symmetric\n5 5 3\n1 1\n5 2\n4 4\n",
      "%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n-2\n3\n"};
  const std::string alphabet = std::string("0123456789 .-+eE\n\t%\r,x\xff") + '\0';
  Random random(5);
  int read_well = 0;
  for (int i = 0; i < count; ++i) {
    std::string text = seeds[random.below(static_cast<Index>(seeds.size()))];
    for (Index changes = 1 + random.below(4); changes > 0 && !text.empty(); --changes) {
      const std::size_t at = random.below(static_cast<Index>(text.size()));
      const char letter = alphabet[random.below(static_cast<Index>(alphabet.size()))];
      switch (random.below(5)) {
        case 0:
          text[at] = letter;
          break;
        case 1:
          text.insert(at, 1, letter);
          break;
        case 2:
          text.erase(at, 1 + random.below(8));
          break;
        case 3:
          text.resize(at);
          break;
        default:
          text.insert(at, text.substr(random.below(static_cast<Index>(text.size())), random.below(20)));
          break;
      }
    }
    try {
      const ReadMatrix m = read(text, random.below(2) == 0);
      EXPECT_EQ(m.matrix.offsets.back(), m.matrix.entries());
      ++read_well;
    } catch (const MatrixError&) {
    }
  }
  EXPECT_GT(read_well, count / 100);
  EXPECT_LT(read_well, count);
}

}  // namespace
}  // namespace lacuna::sida
