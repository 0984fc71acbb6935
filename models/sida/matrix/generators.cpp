#include "models/sida/matrix/generators.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>

#include "models/sida/matrix/names.h"
#include "models/sida/matrix/random.h"

namespace lacuna::sida {
namespace {

constexpr double kMostRows = 4294967295.0, kMostEntries = 1e11;

const std::vector<MatrixKnob> kCommon{
    {"rows", 1, kMostRows, 10000, true, "rows and columns"},
    {"entries", 0, kMostEntries, 100000, true, "entries, at most"},
    {"seed", 0, kMostRows, 1, true, "of all that is drawn"},
    {"shuffled", 0, 1, 0, false, "share of the vertices whose numbers are exchanged at random: locality gets lost"},
    {"reach", 0, 1, 1, false, "share of the vertices, the first ones, of which `shuffled` are exchanged"},
    {"pattern", 0, 1, 0, true, "1: entries have no values"},
};

const std::vector<MatrixKind> kKinds{
    {"arrow",
     "blocks along the diagonal, and rows and columns at the end that reach all of them (bundle adjustment); symmetric",
     {{"border", 0, 1, 0.02, false, "share of the vertices that are in the border"},
      {"block", 1, 65536, 8, true, "vertices of a block"}}},
    {"band",
     "entries at random within a distance of the diagonal; symmetric",
     {{"width", 1, kMostRows, 64, true, "greatest distance from the diagonal"}}},
    {"circuit",
     "most entries near the diagonal, others anywhere, a few rows of many (supplies); symmetric",
     {{"near", 0, 1, 0.9, false, "share of the entries that are near"},
      {"distance", 1, kMostRows, 32, true, "from the diagonal, of near ones, at most"},
      {"supplies", 0, 65536, 4, true, "vertices that many others reach"}}},
    {"communities",
     "groups of vertices with most entries inside, some between them; symmetric",
     {{"groups", 1, 1 << 24, 100, true, "groups of equal size"}, {"inside", 0, 1, 0.9, false, "share of the entries inside"}}},
    {"mesh2d", "neighbours in a square grid, row after row; symmetric. `entries` has no effect", {}},
    {"mesh3d", "neighbours in a cubic grid, plane after plane; symmetric. `entries` has no effect", {}},
    {"power",
     "degrees by a power law (Chung and Lu, 2002); directed",
     {{"exponent", 2.01, 10, 2.3, false, "of the power law"},
      {"below", 0.5, 1, 0.5, false, "share of the entries below the diagonal"}}},
    {"random", "each entry anywhere; directed", {}},
    {"road",
     "a square grid of crossings of which roads are missing, in tiles; symmetric",
     {{"kept", 0.01, 1, 0.6, false, "share of the grid's edges that exist"},
      {"tile", 1, 4096, 32, true, "side of a tile, whose vertices have neighbouring numbers"}}},
};

using Values = std::map<std::string, double, std::less<>>;

std::string number_text(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

Values parsed(std::string_view text, const MatrixKind& kind) {
  Values values;
  std::vector<std::string> names;
  std::vector<MatrixKnob> knobs(kCommon);
  knobs.insert(knobs.end(), kind.knobs.begin(), kind.knobs.end());
  for (const MatrixKnob& knob : knobs) {
    values.emplace(knob.name, knob.preset);
    names.emplace_back(knob.name);
  }
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    const std::size_t equals = item.find('=');
    const std::string name(item.substr(0, equals));
    const auto knob = std::find_if(knobs.begin(), knobs.end(), [&](const MatrixKnob& k) { return k.name == name; });
    if (knob == knobs.end()) {
      throw MatrixError("a matrix of kind " + std::string(kind.name) + " has no '" + name + "'" + nearest_or_all(names, name));
    }
    double value = 0;
    const std::string_view digits = equals == std::string_view::npos ? std::string_view() : item.substr(equals + 1);
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool is_number = problem == std::errc() && end == digits.data() + digits.size();
    if (!is_number || !(value >= knob->least && value <= knob->most) || (knob->whole && value != std::floor(value))) {
      throw MatrixError(std::string(kind.name) + ": " + name + " is a " + (knob->whole ? "whole " : "") + "number from " +
                        number_text(knob->least) + " to " + number_text(knob->most) + ", not '" + std::string(digits) + "'");
    }
    values[name] = value;
  }
  return values;
}

/// Draws the entries of one kind of matrix.
class Generator {
 public:
  Generator(const Values& values, Random& random)
      : values_(values),
        random_(random),
        n_(static_cast<Index>(of("rows"))),
        wanted_(static_cast<std::uint64_t>(of("entries"))) {
    made_.rows = made_.columns = n_;
  }

  Coordinates make(std::string_view kind) {
    if (kind == "mesh2d") {
      mesh(2);
    } else if (kind == "mesh3d") {
      mesh(3);
    } else if (kind == "road") {
      roads();
    } else if (kind == "arrow") {
      arrow();
    } else if (kind == "band") {
      const auto width = static_cast<Index>(of("width"));
      symmetric([&] { return near_pair(width); });
    } else if (kind == "circuit") {
      circuit();
    } else if (kind == "communities") {
      communities();
    } else if (kind == "power") {
      power();
    } else {
      reserve(wanted_);
      for (std::uint64_t i = 0; i < wanted_; ++i) made_.add(random_.below(n_), random_.below(n_));
    }
    return std::move(made_);
  }

 private:
  using Pair = std::pair<Index, Index>;

  double of(std::string_view name) const { return values_.find(name)->second; }
  void reserve(std::uint64_t entries) {
    made_.row.reserve(entries);
    made_.column.reserve(entries);
  }
  void both(Index a, Index b) {
    made_.add(a, b);
    if (a != b) made_.add(b, a);
  }
  /// Adds entries from `draw`, each with its mirror image, until at most one of the requested number is missing.
  template <class Draw>
  void symmetric(const Draw& draw) {
    reserve(wanted_ + 1);
    while (made_.entries() + 1 < wanted_) {
      const auto [a, b] = draw();
      both(a, b);
    }
  }
  /// Draws a vertex, and a second vertex at most `width` after the first. If the second would exceed the matrix, returns the
  /// first twice.
  Pair near_pair(Index width) {
    const Index a = random_.below(n_);
    const std::uint64_t b = a + std::uint64_t{random_.below(std::min(width, n_ - 1) + 1)};
    return {a, b < n_ ? static_cast<Index>(b) : a};
  }

  /// Side of the largest grid that has no more points than the graph has vertices.
  Index grid_side(unsigned dimensions) const {
    const auto fits = [&](std::uint64_t side) {
      std::uint64_t count = 1;
      for (unsigned d = 0; d < dimensions; ++d) count *= side;
      return count <= n_;
    };
    auto side = static_cast<std::uint64_t>(std::pow(n_, 1.0 / dimensions));
    while (!fits(side)) --side;
    while (fits(side + 1)) ++side;
    return static_cast<Index>(side);
  }

  /// Connects neighbours along each dimension of a grid, and adds its diagonal entries; vertices beyond the largest complete
  /// grid are isolated.
  void mesh(unsigned dimensions) {
    const Index side = grid_side(dimensions);
    std::uint64_t count = 1;
    for (unsigned d = 0; d < dimensions; ++d) count *= side;
    reserve(count * (2 * dimensions + 1));
    for (std::uint64_t v = 0; v < count; ++v) {
      made_.add(static_cast<Index>(v), static_cast<Index>(v));
      std::uint64_t stride = 1;
      for (unsigned d = 0; d < dimensions; ++d, stride *= side) {
        if (v / stride % side + 1 < side) both(static_cast<Index>(v), static_cast<Index>(v + stride));
      }
    }
  }

  void roads() {
    const Index side = grid_side(2);
    const auto tile = std::min(static_cast<Index>(of("tile")), side);
    const double kept = of("kept");
    // Crossings are numbered by tile, then by row within each tile.
    const auto number = [&](Index x, Index y) {
      const Index across = side / tile;  // number of tiles per side; the last tile in each direction may be larger
      const Index tx = std::min(x / tile, across - 1), ty = std::min(y / tile, across - 1);
      const Index width = tx + 1 < across ? tile : side - tx * tile, height = ty + 1 < across ? tile : side - ty * tile;
      return std::uint64_t{ty} * tile * side + std::uint64_t{tx} * tile * height + std::uint64_t{y - ty * tile} * width +
             (x - tx * tile);
    };
    for (Index y = 0; y < side; ++y) {
      for (Index x = 0; x < side; ++x) {
        const auto here = static_cast<Index>(number(x, y));
        if (x + 1 < side && random_.share() <= kept) both(here, static_cast<Index>(number(x + 1, y)));
        if (y + 1 < side && random_.share() <= kept) both(here, static_cast<Index>(number(x, y + 1)));
      }
    }
  }

  void arrow() {
    const auto border = std::min(static_cast<Index>(of("border") * n_), n_ - 1);
    const Index inner = n_ - border, block = std::min(static_cast<Index>(of("block")), inner);
    // If there is a border, half of the entries on average are within blocks, and half connect blocks with the border.
    symmetric([&]() -> Pair {
      const Index a = random_.below(inner);
      if (border != 0 && random_.share() <= 0.5) return {a, inner + random_.below(border)};
      const Index first = a / block * block;
      return {a, first + random_.below(std::min(block, inner - first))};
    });
  }

  void circuit() {
    const double near = of("near");
    const auto distance = static_cast<Index>(of("distance"));
    const auto supplies = std::min(static_cast<Index>(of("supplies")), n_);
    symmetric([&]() -> Pair {
      if (random_.share() <= near) return near_pair(distance);
      // Half of the far entries connect to a supply net; supplies are spaced evenly.
      const bool supply = supplies != 0 && random_.share() <= 0.5;
      const Index a = random_.below(n_);
      return {a, supply ? static_cast<Index>(std::uint64_t{random_.below(supplies)} * n_ / supplies) : random_.below(n_)};
    });
  }

  void communities() {
    const auto groups = std::min(static_cast<Index>(of("groups")), n_);
    const double inside = of("inside");
    const auto first = [&](Index group) { return static_cast<Index>(std::uint64_t{group} * n_ / groups); };
    symmetric([&]() -> Pair {
      if (random_.share() > inside) return {random_.below(n_), random_.below(n_)};
      const Index group = random_.below(groups), begin = first(group), size = first(group + 1) - begin;
      return {begin + random_.below(size), begin + random_.below(size)};
    });
  }

  /// The probability of an entry in a row is proportional to (i + 1) ^ (-1 / (exponent - 1)), where i is the position of the
  /// row in a random order; columns follow the same law with another random order.
  void power() {
    const double alpha = 1 / (of("exponent") - 1), inverse = 1 / (1 - alpha), span = std::pow(n_ + 1.0, 1 - alpha) - 1;
    const auto draw = [&] {
      // Inverse of the integral of the weights from 1 to i + 1.
      const double place = std::pow(1 + (1 - random_.share()) * span, inverse) - 1;
      return std::min(static_cast<Index>(place), n_ - 1);
    };
    reserve(wanted_);
    const std::vector<Index> in = random_.order(n_), out = random_.order(n_);
    // On average half of the drawn entries are below the diagonal; entries above it are mirrored with probability `moved`.
    const double moved = 2 * of("below") - 1;
    for (std::uint64_t i = 0; i < wanted_; ++i) {
      Index row = out[draw()], column = in[draw()];
      if (moved > 0 && row < column && random_.share() <= moved) std::swap(row, column);
      made_.add(row, column);
    }
  }

  const Values& values_;
  Random& random_;
  const Index n_;
  const std::uint64_t wanted_;
  Coordinates made_;
};

const MatrixKind* kind_of(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  const auto found = std::find_if(kKinds.begin(), kKinds.end(), [&](const MatrixKind& kind) { return kind.name == name; });
  return found == kKinds.end() ? nullptr : &*found;
}

}  // namespace

std::span<const MatrixKind> matrix_kinds() { return kKinds; }
std::span<const MatrixKnob> common_knobs() { return kCommon; }
bool is_matrix_kind(std::string_view text) { return kind_of(text) != nullptr; }

SparseMatrix generated(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string name(text.substr(0, colon));
  const MatrixKind* const kind = kind_of(text);
  if (kind == nullptr) {
    std::vector<std::string> names;
    names.reserve(kKinds.size());
    for (const MatrixKind& one : kKinds) names.emplace_back(one.name);
    throw MatrixError("no kind of matrix '" + name + "'" + nearest_or_all(names, name));
  }
  const Values values = parsed(colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1), *kind);
  Random random(static_cast<std::uint64_t>(values.find("seed")->second));
  Coordinates made = Generator(values, random).make(name);
  const auto n = made.rows;
  SparseMatrix matrix = by_columns(std::move(made));
  const double shuffled = values.find("shuffled")->second;
  if (shuffled > 0) {
    std::vector<Index> moved;
    const auto end = static_cast<Index>(values.find("reach")->second * n);
    for (Index i = 0; i < end; ++i) {
      if (random.share() <= shuffled) moved.push_back(i);
    }
    std::vector<Index> order(n);
    std::iota(order.begin(), order.end(), Index{0});
    const std::vector<Index> places = random.order(static_cast<Index>(moved.size()));
    for (std::size_t i = 0; i < moved.size(); ++i) order[moved[i]] = moved[places[i]];
    matrix = permuted(matrix, order);
  }
  if (values.find("pattern")->second == 0) {
    matrix.values.resize(matrix.entries());
    for (double& value : matrix.values) value = random.share();
  }
  return matrix;
}

}  // namespace lacuna::sida
