// A results database with damaged bytes is refused before results are read, unless SQLite does not use the damaged bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <sstream>

#include "platform/run/output_file.h"
#include "platform/sweep/results_database.h"
#include "platform/sweep/results_report.h"
#include "platform/sweep/stored_points.h"
#include "platform/sweep/sweep_error.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t kPage = 4096;
const std::vector<Metric> kMetrics{{"cycles", "gpu.cycles"}, {"share", "{gpu.part*} / {gpu.cycles}"}};

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

class DamagedDatabase : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder);
    fs::create_directories(folder);
    make();
    std::ifstream stream(file, std::ios::binary);
    original.assign(std::istreambuf_iterator<char>(stream), {});
    ASSERT_EQ(original.size() % kPage, 0u);
    output = printed();
    rows = all_rows();
  }

  static PointRecord record(int number, PointState state) {
    PointRecord point;
    point.key = "key" + std::to_string(number);
    point.state = state;
    point.exit_code = state == PointState::done ? 0 : 42;
    point.seconds = 1.5 * number;
    point.command = "lacuna run program.elf";
    point.inputs = {{"simulator", "1"}, {"configuration", point.key}};
    point.commit = "c0ffee";
    point.date = "2026-01-31T12:34:56Z";
    point.host = "node7";
    if (state != PointState::done) {
      point.cause = "at 12 us: queue 1 stopped, point " + std::to_string(number);
      // A log longer than a page of the database.
      for (int line = 0; line < 300; ++line) point.log += "line " + std::to_string(line) + " of the log\n";
    }
    point.results.run_hash = "00ff" + point.key;
    point.results.version = "0.1.0";
    point.results.configuration = "[gpu]\n" + std::string(5000, '#');
    point.results.kernel_columns = "index,kernel";
    for (int kernel = 0; kernel < 20; ++kernel)
      point.results.kernels.push_back(std::to_string(kernel) + ",kernel" + std::to_string(number));
    point.results.statistics.push_back({"gpu.cycles", "cycles", std::int64_t{1000} * number});
    for (int part = 0; part < 40; ++part)
      point.results.statistics.push_back({"gpu.part" + std::to_string(part), "cycles", number + part / 8.0});
    return point;
  }

  void make() const {
    ResultsDatabase database(file, false);
    std::vector<SweepMember> members;
    for (int number = 1; number <= 24; ++number) {
      members.push_back(
          {{{"n", std::to_string(number / 2)}}, {{"seed", std::to_string(number % 2)}}, "key" + std::to_string(number)});
      database.add(record(number, number % 8 == 0 ? PointState::failed : PointState::done));
    }
    database.begin_sweep("s", "s.sweep", "[sweep]\ncommand = run\n", kMetrics, members);
    // Create pages that SQLite does not use.
    database.connection().run("CREATE TABLE gone(text)");
    database.connection().run("INSERT INTO gone VALUES(zeroblob(20000)), (zeroblob(9000))");
    database.connection().run("DROP TABLE gone");
  }

  /// Output of `lacuna results` for the database.
  std::string printed() const {
    ResultsDatabase database(file, true);
    std::ostringstream text;
    for (const StoredSweep& sweep : database.sweeps()) {
      database.require_intact(sweep.id);
      text << sweep.name << ' ' << sweep.file << ' ' << sweep.date << ' ' << sweep.metrics.size() << '\n';
    }
    const std::vector<PointGroup> groups = load_points(database, {"s", {}}, kMetrics, {});
    write_groups_csv(groups, {{kMetrics[0], unit_of(database, kMetrics[0])}, {kMetrics[1], ""}}, {}, text);
    write_points_csv(groups, text);
    write_failures(groups, text);
    return text.str();
  }

  /// Every value of every table, as text.
  std::string all_rows() const {
    const SqliteDatabase database(file, SqliteDatabase::Mode::read);
    std::string bytes;
    for (const char* table :
         {"sweeps", "configurations", "kernel_columns", "points", "members", "statistic_names", "statistics", "kernels"}) {
      SqliteStatement row = database.prepare(std::string("SELECT * FROM ") + table + " ORDER BY 1, 2");
      while (row.step())
        for (int column = 0; column < row.columns(); ++column) row.add_to(bytes, column);
    }
    return bytes;
  }

  /// Reason why the database is refused; "" if it is read, in which case every value must be correct.
  std::string refusal(const std::string& damaged) {
    for (const char* suffix : {"-wal", "-shm"}) fs::remove(file.string() + suffix);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << damaged;
    std::string text;
    try {
      text = printed();
    } catch (const SweepError& e) {
      EXPECT_THAT(e.what(), HasSubstr(file.string()));
      return e.what();
    }
    EXPECT_EQ(text, output);
    EXPECT_EQ(all_rows(), rows);
    return {};
  }

  /// Pages of the free list, which hold no data. The head of the list is in the first page of the file.
  std::set<std::size_t> unused_pages() const {
    std::set<std::size_t> unused;
    for (std::size_t trunk = number_at(original, 32); trunk != 0;) {
      const std::size_t begin = (trunk - 1) * kPage;
      for (std::size_t i = 0; i < number_at(original, begin + 4); ++i)
        unused.insert(number_at(original, begin + 8 + 4 * i) - 1);
      trunk = number_at(original, begin);
    }
    return unused;
  }

  const fs::path folder = fs::path(::testing::TempDir()) / "damaged_results";
  const fs::path file = folder / "results.db";
  std::string original;
  std::string output;
  std::string rows;
};

TEST_F(DamagedDatabase, IsRefusedForAnyLostPage) {
  const std::size_t pages = original.size() / kPage;
  ASSERT_GT(pages, 30u);
  const std::set<std::size_t> unused = unused_pages();
  ASSERT_GT(unused.size(), 4u);
  std::mt19937 random(1);
  for (std::size_t page = 0; page < pages; ++page) {
    std::string noise(kPage, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    const std::string neighbour = original.substr((page + 1) % pages * kPage, kPage);
    for (const std::string& pattern :
         {std::string(kPage, '\0'), std::string(kPage, '\xff'), std::string(kPage, '\x5a'), noise, neighbour}) {
      std::string damaged = original;
      damaged.replace(page * kPage, kPage, pattern);
      SCOPED_TRACE("page " + std::to_string(page + 1));
      EXPECT_EQ(refusal(damaged).empty(), damaged == original || unused.contains(page));
    }
  }
}

TEST_F(DamagedDatabase, DamageWithinPages) {
  // Includes damage to values that no index contains, which SQLite's own check does not detect.
  std::mt19937 random(2);
  std::size_t refused = 0;
  std::size_t read = 0;
  for (std::size_t at = 0; at < original.size(); at += 150 + random() % 150) {
    std::string damaged = original;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
    SCOPED_TRACE("byte " + std::to_string(at));
    ++(refusal(damaged).empty() ? read : refused);
  }
  for (std::size_t at = 0; at + 512 <= original.size(); at += 512 * (2 + random() % 4)) {
    std::string damaged = original;
    damaged.replace(at, 512, std::string(512, '\0'));
    SCOPED_TRACE("from byte " + std::to_string(at));
    ++(refusal(damaged).empty() ? read : refused);
  }
  EXPECT_GT(refused, 200u) << read << " read";
  EXPECT_GT(read, 50u) << refused << " refused";
}

TEST_F(DamagedDatabase, IsRefusedWhenTruncated) {
  const std::set<std::size_t> unused = unused_pages();
  for (std::size_t size = 100; size < original.size(); size += 3000) {
    // SQLite treats a truncated last page as a page; no data are lost if the page is unused.
    const std::size_t last = original.size() / kPage - 1;
    const bool is_in_unused = size > last * kPage && unused.contains(last);
    EXPECT_EQ(refusal(original.substr(0, size)).empty(), is_in_unused) << size << " bytes";
  }
}

TEST_F(DamagedDatabase, InvalidContentsOfRowsAreRefused) {
  const std::string good = original;
  const auto changed_by = [&](const char* statements) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << good;
    SqliteDatabase(file, SqliteDatabase::Mode::write).run(statements);
    try {
      printed();
    } catch (const SweepError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(changed_by("SELECT 1"), "");
  const std::string name = file.string() + ": is damaged: ";
  EXPECT_THAT(changed_by("UPDATE members SET axes = '{' WHERE id = 3"),
              HasSubstr(name + "row 3 of members: axes is not a JSON object of strings"));
  EXPECT_THAT(changed_by("UPDATE members SET repeats = '{\"seed\": 1}' WHERE id = 3"), HasSubstr("row 3 of members: repeats"));
  EXPECT_THAT(changed_by("UPDATE sweeps SET takes = '[\"a\"]'"), HasSubstr("row 1 of sweeps: takes"));
  EXPECT_THAT(changed_by("UPDATE points SET inputs = x'ff' WHERE id = 2"), HasSubstr("row 2 of points: inputs"));
  EXPECT_THAT(changed_by("UPDATE points SET state = 'dome' WHERE id = 2"), HasSubstr("row 2 of points: unknown state dome"));
  EXPECT_THAT(changed_by("UPDATE points SET exit_code = 0 WHERE id = 8"), HasSubstr("row 8 of points, its statistics"));
  EXPECT_THAT(changed_by("UPDATE points SET digest = NULL WHERE id = 8"), HasSubstr("row 8 of points, its statistics"));
  EXPECT_THAT(changed_by("UPDATE statistics SET value = value + 1 WHERE point = 4 AND name = 9"),
              HasSubstr("row 4 of points, its statistics"));
  EXPECT_THAT(changed_by("DELETE FROM statistics WHERE point = 4 AND name = 9"), HasSubstr("row 4 of points, its statistics"));
  EXPECT_THAT(changed_by("UPDATE statistic_names SET unit = 'B' WHERE id = 7"), HasSubstr(" of points, its statistics"));
  EXPECT_THAT(changed_by("UPDATE kernels SET row = 'x' WHERE point = 5 AND number = 7"),
              HasSubstr("row 5 of points, its statistics"));
  EXPECT_THAT(changed_by("DELETE FROM members WHERE id = 3"), HasSubstr("sweep s or one of its members"));
  EXPECT_THAT(changed_by("UPDATE sweeps SET file = 'x'"), HasSubstr("sweep s or one of its members"));
  EXPECT_THAT(changed_by("DROP TABLE kernels"), HasSubstr(name + "no such table: kernels"));
  EXPECT_THAT(changed_by("ALTER TABLE points DROP COLUMN log"), HasSubstr(name + "no such column: log"));
}

TEST_F(DamagedDatabase, IsNotRepairedByStoringAnotherPoint) {
  // A sweep is not continued in the damaged database.
  std::string damaged = original;
  damaged.replace(5 * kPage, kPage, std::string(kPage, '\0'));
  ASSERT_NE(refusal(damaged), "");
  EXPECT_THROW(ResultsDatabase(file, false), SweepError);
  std::ifstream stream(file, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), damaged);
}

TEST_F(DamagedDatabase, OfTheFirstVersionIsReadAndBroughtToTheSecond) {
  SqliteDatabase(file, SqliteDatabase::Mode::write)
      .run(
          "ALTER TABLE points DROP COLUMN cause; ALTER TABLE points DROP COLUMN digest; ALTER TABLE sweeps DROP COLUMN digest; "
          "PRAGMA user_version = 1");
  const std::string before = printed();
  EXPECT_THAT(before, AllOf(HasSubstr("key"), HasSubstr("failed, exit code 42")));
  {
    ResultsDatabase database(file, false);
    EXPECT_EQ(database.connection().integer("PRAGMA user_version"), 2);
    EXPECT_EQ(database.connection().integer("SELECT count(*) FROM points WHERE digest IS NULL"), 0);
    database.add(record(8, PointState::failed));
  }
  EXPECT_THAT(printed(), HasSubstr("at 12 us: queue 1 stopped, point 8"));
}

TEST_F(DamagedDatabase, AFullDiskLosesNothingThatIsStored) {
  ResultsDatabase database(file, false);
  database.connection().run("PRAGMA max_page_count = " + std::to_string(original.size() / kPage + 1));
  std::string what;
  int number = 100;
  for (; what.empty() && number < 200; ++number) {
    try {
      database.add(record(number, PointState::failed));
    } catch (const WriteError& e) {
      what = e.what();
    }
  }
  EXPECT_THAT(what, HasSubstr(file.string() + ": cannot be written: database or disk is full"));
  const std::string last = "key" + std::to_string(number - 1);
  EXPECT_EQ(database.state(last), std::nullopt);
  EXPECT_THROW(database.begin_sweep("t", "t.sweep", std::string(100'000, 'x'), {}, {}), WriteError);
  // Make space available again.
  database.connection().run("PRAGMA max_page_count = 100000");
  database.add(record(number - 1, PointState::done));
  EXPECT_EQ(database.state(last), PointState::done);
  EXPECT_EQ(printed(), output);
}

}  // namespace
}  // namespace lacuna
