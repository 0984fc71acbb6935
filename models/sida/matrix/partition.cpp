// Orderings computed with Scotch (Pellegrini), from the Debian package of the same name.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <numeric>
#include <string>

// scotch.h uses FILE without declaring it.
#include <scotch/scotch.h>

#include "models/sida/matrix/order_methods.h"

namespace lacuna::sida {
namespace {

/// Approximate number of vertices per part, unless kMostParts limits the parts. Bisection gives neighbouring parts similar
/// numbers.
constexpr Index kPartVertices = 16;
constexpr Index kMostParts = 1 << 14;

/// A Scotch graph that is processed by one thread with a fixed seed, so that its parts are the same on every machine.
class ScotchGraph {
 public:
  explicit ScotchGraph(const SparseMatrix& matrix) {
    const SparseMatrix graph = neighbours(matrix);
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<SCOTCH_Num>::max());
    if (graph.entries() > kMost || graph.columns >= kMost) {
      throw MatrixError("Scotch takes " + std::to_string(kMost) + " entries of both triangles, not " +
                        std::to_string(graph.entries()));
    }
    offsets_.assign(graph.offsets.begin(), graph.offsets.end());
    edges_.assign(graph.indices.begin(), graph.indices.end());
    require(SCOTCH_contextInit(&context_), "a context");
    require(SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMDETERMINISTIC, 1), "an option");
    SCOTCH_contextRandomSeed(&context_, 1);
    require(SCOTCH_contextThreadSpawn(&context_, 1, nullptr), "a thread");
    require(SCOTCH_graphInit(&graph_), "a graph");
    require(SCOTCH_graphBuild(&graph_, 0, static_cast<SCOTCH_Num>(graph.columns), offsets_.data(), nullptr, nullptr, nullptr,
                              static_cast<SCOTCH_Num>(edges_.size()), edges_.data(), nullptr),
            "a graph");
    require(SCOTCH_graphInit(&bound_), "a graph");
    require(SCOTCH_contextBindGraph(&context_, &graph_, &bound_), "a graph");
    require(SCOTCH_stratInit(&strategy_), "a strategy");
  }
  ~ScotchGraph() {
    SCOTCH_stratExit(&strategy_);
    SCOTCH_graphExit(&bound_);
    SCOTCH_graphExit(&graph_);
    SCOTCH_contextExit(&context_);
  }
  ScotchGraph(const ScotchGraph&) = delete;
  ScotchGraph& operator=(const ScotchGraph&) = delete;

  Index vertices() const { return static_cast<Index>(offsets_.size() - 1); }
  Index parts() const { return std::clamp(vertices() / kPartVertices, Index{1}, kMostParts); }

  std::vector<SCOTCH_Num> partition() {
    std::vector<SCOTCH_Num> part(vertices());
    require(SCOTCH_graphPart(&bound_, static_cast<SCOTCH_Num>(parts()), &strategy_, part.data()), "parts");
    return part;
  }
  std::vector<SCOTCH_Num> line() {
    SCOTCH_Arch path;
    require(SCOTCH_archInit(&path), "a line");
    require(SCOTCH_archMesh2(&path, static_cast<SCOTCH_Num>(parts()), 1), "a line");
    std::vector<SCOTCH_Num> place(vertices());
    require(SCOTCH_graphMap(&bound_, &path, &strategy_, place.data()), "places on a line");
    SCOTCH_archExit(&path);
    return place;
  }

 private:
  static void require(int code, const char* what) {
    if (code != 0) throw MatrixError(std::string("Scotch cannot make ") + what);
  }

  std::vector<SCOTCH_Num> offsets_, edges_;
  SCOTCH_Context context_{};
  SCOTCH_Graph graph_{}, bound_{};
  SCOTCH_Strat strategy_{};
};

/// Vertices sorted by `number`; vertices with equal numbers are in reverse Cuthill-McKee order.
std::vector<Index> sorted_by(const SparseMatrix& matrix, const std::vector<SCOTCH_Num>& number) {
  std::vector<Index> order = reverse_cuthill_mckee(matrix);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return number[a] < number[b]; });
  return order;
}

}  // namespace

std::vector<Index> by_partition(const SparseMatrix& matrix) {
  return matrix.columns == 0 ? std::vector<Index>() : sorted_by(matrix, ScotchGraph(matrix).partition());
}

std::vector<Index> along_a_line(const SparseMatrix& matrix) {
  return matrix.columns == 0 ? std::vector<Index>() : sorted_by(matrix, ScotchGraph(matrix).line());
}

}  // namespace lacuna::sida
