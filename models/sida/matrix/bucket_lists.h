// Lists of items by integer key. The greatest key in use is found without searching the items.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

class BucketLists {
 public:
  static constexpr Index kNone = ~Index{0};

  /// Items are numbered 0 to `items` - 1 and initially in no list. The range of keys grows as needed.
  explicit BucketLists(Index items) : next_(items), previous_(items), key_(items, kAbsent) {}

  bool contains(Index item) const { return key_[item] != kAbsent; }
  std::size_t key(Index item) const { return key_[item]; }
  /// The item with that key that was inserted last; kNone if no item has the key.
  Index front(std::size_t key) const { return key < heads_.size() ? heads_[key] : kNone; }
  /// The greatest key with an item. At least one item must be in a list.
  std::size_t greatest() {
    while (heads_[greatest_] == kNone) --greatest_;
    return greatest_;
  }

  void insert(Index item, std::size_t key) {
    if (key >= heads_.size()) heads_.resize(key + 1, kNone);
    key_[item] = key;
    next_[item] = heads_[key];
    previous_[item] = kNone;
    if (heads_[key] != kNone) previous_[heads_[key]] = item;
    heads_[key] = item;
    greatest_ = std::max(greatest_, key);
  }
  void remove(Index item) {
    if (next_[item] != kNone) previous_[next_[item]] = previous_[item];
    (previous_[item] == kNone ? heads_[key_[item]] : next_[previous_[item]]) = next_[item];
    key_[item] = kAbsent;
  }
  void move(Index item, std::size_t key) {
    remove(item);
    insert(item, key);
  }

 private:
  static constexpr std::size_t kAbsent = ~std::size_t{0};

  std::vector<Index> next_, previous_;
  std::vector<std::size_t> key_;
  std::vector<Index> heads_;
  std::size_t greatest_ = 0;  ///< upper bound of the keys that have items
};

}  // namespace lacuna::sida
