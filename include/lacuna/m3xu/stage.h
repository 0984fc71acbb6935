// The part of a matrix that a work-item of a tiled product (lacuna/m3xu/tiled.h) loads from memory into registers, slab by
// slab, and then stores to LDS.
#pragma once

#include "lacuna/m3xu/fragments.h"

namespace m3xu::tiled {

using Complex = complex;
template <class T, unsigned n>
using Vector = detail::vector<T, n>;
using Unit = Vector<float, 2>;
using TwoUnits = Vector<float, 4>;

constexpr unsigned kWorkgroup = 256, kUnits = 8;  // work-items; units of a slab along k
template <class Element>
constexpr unsigned kPerUnit = sizeof(Unit) / sizeof(Element);
/// Number of elements of a slab along k.
template <class Element>
constexpr unsigned kDepth = kUnits* kPerUnit<Element>;

/// Index of a work-item in a workgroup of one dimension.
struct OneDimension {
  LACUNA_M3XU_MEMBER static unsigned work_item() { return __builtin_amdgcn_workitem_id_x(); }
};
LACUNA_M3XU_DEVICE unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/// op(A), m x k, or op(B), k x n. Elements that are adjacent in memory form lines along k, or across k (along the other
/// dimension); the lines are `ld` elements apart.
template <class Element>
struct Operand {
  const Element* data;
  unsigned ld;
  unsigned size;  ///< rows of op(A) or columns of op(B)
  bool along_k;
};

/// LDS positions of a work-item's part if elements are adjacent along k: two units of every 64th row.
struct AlongK {
  LACUNA_M3XU_MEMBER explicit AlongK(unsigned item) : row(item / 64 * 16 + item % 16), unit(item % 64 / 16 * 2) {}
  template <unsigned kTile>
  LACUNA_M3XU_MEMBER void keep(Unit (*tile)[kTile], const TwoUnits (&values)[kTile / 64]) const {
#pragma unroll
    for (unsigned i = 0; i < kTile / 64; ++i) {
      tile[unit][row + 64 * i] = values[i].lo;
      tile[unit + 1][row + 64 * i] = values[i].hi;
    }
  }
  unsigned row, unit;
};

/// Moves a value that is the same for all lanes to a scalar register.
LACUNA_M3XU_DEVICE unsigned scalar(unsigned value) { return __builtin_amdgcn_readfirstlane(static_cast<int>(value)); }
template <class T>
LACUNA_M3XU_DEVICE const T* scalar(const T* value) {
  const auto address = reinterpret_cast<unsigned long>(value);
  return reinterpret_cast<const T*>(static_cast<unsigned long>(scalar(static_cast<unsigned>(address >> 32))) << 32 |
                                    scalar(static_cast<unsigned>(address)));
}

/// Global memory at `offset` bytes from a base address in scalar registers: a 64-bit address per lane would take two vector
/// registers and two more instructions. The address space is explicit, because the compiler cannot infer it from an address
/// computed as an integer.
template <class To, class T>
LACUNA_M3XU_DEVICE auto* global_at(T* base, unsigned offset) {
  using Global = __attribute__((address_space(1))) To;
  using Bytes = __attribute__((address_space(1))) char;
  return (Global*)((Bytes*)base + offset);
}
/// Type of the same size as Element that the compiler loads and stores with one instruction.
template <class Element>
using Stored = typename detail::choice<sizeof(Element) == sizeof(Unit), Unit,
                                       typename detail::choice<sizeof(Element) == 2, unsigned short, float>::type>::type;
template <class Element>
LACUNA_M3XU_DEVICE void store(const Element* base, unsigned offset, Element value) {
  *global_at<Stored<Element>>(base, offset) = __builtin_bit_cast(Stored<Element>, value);
}
template <class Element>
LACUNA_M3XU_DEVICE Stored<Element> load_stored(const Element* base, unsigned offset) {
  return *global_at<const Stored<Element>>(base, offset);
}
template <class Element>
LACUNA_M3XU_DEVICE Element load(const Element* base, unsigned offset) {
  const Stored<Element> value = load_stored(base, offset);
  return __builtin_bit_cast(Element, value);
}

/// Direction of a matrix' lines: fixed at compile time, or taken from Operand::along_k at run time.
enum class Lines { across, along_k, at_run_time };

/// A work-item's part of the tile that a workgroup loads: kTile rows of op(A), or columns of op(B). Items provides the
/// work-item's index. `load` requires a slab that is complete along k; with lines across k it reads `kColumns` elements at a
/// time and may read past the end of a line. `load_rest` loads any slab and reads nothing outside the matrix.
template <class Element, unsigned kTile, Lines kLines = Lines::at_run_time, class Items = OneDimension>
class MatrixStage {
 public:
  static constexpr unsigned kLoads = kTile / 64;
  /// Number of adjacent elements that a work-item reads from a line across k.
  static constexpr unsigned kColumns = sizeof(Element) == sizeof(Unit) ? 2 : kTile / 32;

  LACUNA_M3XU_MEMBER MatrixStage(const Operand<Element>& matrix, unsigned first)
      : place_(Items::work_item()),
        along_k_(matrix.along_k),
        step_(scalar(matrix.along_k ? kDepth<Element> : kDepth<Element> * matrix.ld)),
        next_line_(scalar(matrix.along_k ? 2 : matrix.ld)),
        slab_(scalar(matrix.data + (matrix.along_k ? static_cast<unsigned long>(first) * matrix.ld : first))) {
    const unsigned item = Items::work_item(), last = matrix.size - 1 - first;
#pragma unroll
    for (unsigned i = 0; i < kLoads; ++i) {
      unsigned line = 0, at = 0;
      if (along_k()) {
        // Lines beyond the last line are replaced by the last line; their results are not stored.
        line = least(place_.row + 64 * i, last);
        at = place_.unit * kPerUnit<Element>;
      } else if constexpr (sizeof(Element) == sizeof(Unit)) {
        const unsigned pair = item + kWorkgroup * i;
        line = pair / (kTile / 2);
        at = least(pair % (kTile / 2) * 2, last & ~1u);
      } else {
        line = item / 32 * kPerUnit<Element> + (sizeof(Element) == 4 ? i : 0);
        at = least(item % 32 * kColumns, last & ~(kColumns - 1));
      }
      offset_[i] = (line * matrix.ld + at) * sizeof(Element);
    }
  }
  /// Loads the next slab from memory.
  LACUNA_M3XU_MEMBER void load() {
    // Keeps the slab's address in scalar registers; otherwise the compiler would maintain an address per lane.
    asm volatile("" : "+s"(slab_));
    if constexpr (sizeof(Element) == 2) {
      if (!along_k()) {
        const Element* line = slab_;
#pragma unroll
        for (unsigned r = 0; r < 4; ++r) {
          if constexpr (kLoads == 1) {
            values_[0][r] = fetch<float>(line, 0);
          } else if (r % 2 == 0) {
            values_[r / 2].lo = fetch<Unit>(line, 0);
          } else {
            values_[r / 2].hi = fetch<Unit>(line, 0);
          }
          line += next_line_;
        }
        slab_ += step_;
        return;
      }
    }
#pragma unroll
    for (unsigned i = 0; i < kLoads; ++i) {
      if constexpr (kLoads == 1 && sizeof(Element) == 4) {
        // Separate loads instead of a single 16-byte load along k: a branch here would make the compiler wait for the loads of
        // the branch's other path.
        values_[i].lo = fetch<Unit>(slab_, i);
        values_[i].hi = fetch<Unit>(slab_ + next_line_, i);
      } else {
        values_[i] = fetch<TwoUnits>(slab_, i);
      }
    }
    slab_ += step_;
  }
  /// Loads any slab: the `left` elements from `k0` on along k, followed by `padding`.
  LACUNA_M3XU_MEMBER void load_rest(const Operand<Element>& matrix, unsigned first, unsigned k0, unsigned left,
                                    Element padding) {
    const Element* const slab = scalar(matrix.data + (along_k() ? static_cast<unsigned long>(first) * matrix.ld + k0
                                                                : static_cast<unsigned long>(k0) * matrix.ld + first));
    constexpr unsigned kCount = sizeof(TwoUnits) / sizeof(Element);
    const unsigned item = Items::work_item(), last = matrix.size - 1 - first;
#pragma unroll
    for (unsigned i = 0; i < kLoads; ++i) {
      struct alignas(sizeof(TwoUnits)) {
        Element at[kCount];
      } elements;
#pragma unroll
      for (unsigned e = 0; e < kCount; ++e) {
        unsigned line = 0, k = 0;
        if (along_k()) {
          line = place_.row + 64 * i;
          k = place_.unit * kPerUnit<Element> + e;
        } else if constexpr (sizeof(Element) == sizeof(Unit)) {
          const unsigned pair = item + kWorkgroup * i;
          line = pair % (kTile / 2) * 2 + e;
          k = pair / (kTile / 2);
        } else {
          const unsigned own = kCount * i + e;
          line = item % 32 * kColumns + own % kColumns;
          k = item / 32 * kPerUnit<Element> + own / kColumns;
        }
        elements.at[e] = padding;
        if (left != 0) {
          const unsigned x = least(line, last), y = least(k, left - 1);
          auto value = load_stored(slab, (along_k() ? x * matrix.ld + y : y * matrix.ld + x) * sizeof(Element));
          // Prevents a separate branch per element: all lanes load, then padding is selected.
          asm("" : "+v"(value));
          if (k < left) elements.at[e] = __builtin_bit_cast(Element, value);
        }
      }
      values_[i] = __builtin_bit_cast(TwoUnits, elements);
    }
  }
  /// Stores the loaded slab to LDS.
  LACUNA_M3XU_MEMBER void keep(Unit (*tile)[kTile]) const {
    const unsigned item = Items::work_item();
    if (along_k()) {
      place_.keep<kTile>(tile, values_);
    } else if constexpr (sizeof(Element) == sizeof(Unit)) {
#pragma unroll
      for (unsigned i = 0; i < kLoads; ++i) {
        const unsigned pair = item + kWorkgroup * i;
        *reinterpret_cast<TwoUnits*>(&tile[pair / (kTile / 2)][pair % (kTile / 2) * 2]) = values_[i];
      }
    } else {
      auto* to = reinterpret_cast<TwoUnits*>(&tile[item / 32][item % 32 * kColumns]);
      if constexpr (sizeof(Element) == 2) {
        // Four lines of memory form one line of units.
        to[0] = columns_of_lines(0);
        if constexpr (kLoads == 2) to[1] = columns_of_lines(1);
      } else if constexpr (kLoads == 2) {
        // Two lines of memory form one line of units.
        to[0] = TwoUnits{values_[0].x, values_[1].x, values_[0].y, values_[1].y};
        to[1] = TwoUnits{values_[0].z, values_[1].z, values_[0].w, values_[1].w};
      } else {
        to[0] = TwoUnits{values_[0].x, values_[0].z, values_[0].y, values_[0].w};
      }
    }
  }

 private:
  template <class To>
  LACUNA_M3XU_MEMBER To fetch(const Element* line, unsigned i) const {
    typedef To Anywhere __attribute__((aligned(alignof(Element))));
    return *global_at<const Anywhere>(line, offset_[i]);
  }
  // Columns 2 `pair` and 2 `pair` + 1 of the four lines, for elements of two bytes.
  LACUNA_M3XU_MEMBER TwoUnits columns_of_lines(unsigned pair) const {
    unsigned words[4];
#pragma unroll
    for (unsigned r = 0; r < 4; ++r) {
      const float word = kLoads == 1 ? values_[0][r] : values_[r / 2 % kLoads][r % 2 * 2 + pair];
      words[r] = __builtin_bit_cast(unsigned, word);
    }
    const auto half_of = [&](unsigned r, unsigned selection) {
      return __builtin_bit_cast(float, __builtin_amdgcn_perm(words[r + 1], words[r], selection));
    };
    constexpr unsigned low = 0x05040100, high = 0x07060302;
    return TwoUnits{half_of(0, low), half_of(2, low), half_of(0, high), half_of(2, high)};
  }

  // Reads the flag from a scalar register at each use; a condition kept in a variable would become one per lane.
  LACUNA_M3XU_MEMBER bool along_k() const {
    if constexpr (kLines == Lines::at_run_time) {
      unsigned answer = along_k_;
      asm volatile("" : "+s"(answer));
      return answer != 0;
    } else {
      return kLines == Lines::along_k;
    }
  }

  AlongK place_;
  unsigned along_k_, step_;
  unsigned next_line_;  // distance in memory, in elements, between the parts of `values_` that are loaded separately
  const Element* slab_;
  unsigned offset_[kLoads];  // byte offsets in a slab
  TwoUnits values_[kLoads];
};

}  // namespace m3xu::tiled
