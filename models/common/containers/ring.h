// A first-in, first-out queue in one block of memory, without allocation in steady state.
#pragma once

#include <cstddef>
#include <vector>

namespace lacuna {

template <typename T>
class Ring {
 public:
  bool empty() const { return begin_ == end_; }
  std::size_t size() const { return end_ - begin_; }
  /// The i-th oldest element.
  const T& operator[](std::size_t i) const { return places_[(begin_ + i) & mask_]; }
  [[gnu::always_inline]] void push(T value) {
    if (end_ - begin_ == places_.size()) [[unlikely]]
      grow();
    places_[end_++ & mask_] = value;
  }
  /// Removes the `count` oldest elements.
  void drop(std::size_t count) { begin_ += count; }
  void clear() { begin_ = end_ = 0; }

 private:
  static constexpr std::size_t kFirstPlaces = 16;

  [[gnu::noinline]] void grow() {
    std::vector<T> places(places_.empty() ? kFirstPlaces : 2 * places_.size());
    for (std::size_t i = 0; i < size(); ++i) places[i] = (*this)[i];
    end_ = size();
    begin_ = 0;
    places_.swap(places);
    mask_ = places_.size() - 1;
  }

  std::vector<T> places_;  // the size is a power of two
  std::size_t mask_ = 0;   // size of places_ - 1
  std::size_t begin_ = 0;  // position of the oldest element; positions only increase and are masked for the index
  std::size_t end_ = 0;    // position after the youngest element
};

}  // namespace lacuna
