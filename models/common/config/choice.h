// Value of a parameter that selects a row of a table: a replacement policy, a topology.
//
// A row has a `name`, which configurations use, and a `description`, a phrase for the generated reference. Rows are constants
// of the program, compared by address. The table that ParameterSection::add() receives is the only list of rows, so that a new
// row needs no enumerator, parser or text elsewhere.
#pragma once

namespace lacuna {

template <class Row>
class Choice {
 public:
  constexpr Choice(const Row& row) : row_(&row) {}  // NOLINT(google-explicit-constructor): a row converts to its choice
  Choice(const Row&&) = delete;
  constexpr operator const Row&() const { return *row_; }  // NOLINT(google-explicit-constructor)
  constexpr const Row* operator->() const { return row_; }
  friend constexpr bool operator==(Choice a, Choice b) { return a.row_ == b.row_; }

 private:
  const Row* row_;
};

}  // namespace lacuna
