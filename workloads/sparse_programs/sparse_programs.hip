// The programs of the sparse dataflow accelerator as sparse GPU kernels: y = x A over a semiring and element-wise operations,
// on the matrices that `lacuna sida run` accepts. The same process can submit the program to the accelerator of its GPU.
//
//   pr, label              products by columns, with subsequent operations in the same kernel (product.h, rank.h)
//   kcore, bfs, sssp, knn  along edges from a list of vertices (frontier.h)
//   kpp                    products by rows, and a search in sums of distances (clustering.h)
//   gcn                    features of neighbours and a dense product in one kernel (convolution.h)
//   gmres, cg, bgs         products by rows with dot products in the same kernel (solvers.h)
#include <hip/hip_runtime.h>

#include "workloads/sparse_programs/clustering.h"
#include "workloads/sparse_programs/convolution.h"
#include "workloads/sparse_programs/frontier.h"
#include "workloads/sparse_programs/rank.h"
#include "workloads/sparse_programs/solvers.h"

namespace {

workload::ProgramRun run_on_gpu(workload::Program& program, const workload::Application& application,
                                const workload::RunOptions& options) {
  if (options.program == "pr") return workload::run_pr(program, application, options);
  if (options.program == "label") return workload::run_label(program, application, options);
  if (options.program == "kcore") return workload::run_kcore(program, application, options);
  if (options.program == "bfs") return workload::run_reach<true>(program, application, options);
  if (options.program == "knn") return workload::run_reach<false>(program, application, options);
  if (options.program == "kpp") return workload::run_kpp(program, application, options);
  if (options.program == "gcn") return workload::run_gcn(program, application, options);
  if (options.program == "gmres") return workload::run_gmres(program, application, options);
  if (options.program == "cg") return workload::run_cg(program, application, options);
  if (options.program == "bgs") return workload::run_bgs(program, application, options);
  return workload::run_sssp(program, application, options);
}

}  // namespace

int main(int argc, char** argv) {
  workload::Program program("sparse_programs", "Graph programs and solvers: products with a sparse matrix in a loop",
                            "Democratizing tensor processors (thesis), Table 4.2: programs of SIDA, on GPUs by GraphBLAST");
  workload::ApplicationSetup setup;
  workload::RunOptions options;
  std::string machine;
  int iterations = 0, source = 0, features = 0, block = 0;
  program.choice(setup.program, "program", "the program",
                 {"pr", "kcore", "bfs", "sssp", "kpp", "knn", "label", "gcn", "gmres", "cg", "bgs"}, std::string("pr"));
  program.text(setup.matrix, "matrix", "a file, or a kind and its numbers",
               {"power:rows=1500,entries=12000", "power:rows=20000,entries=256000", "power:rows=55733,entries=730000"});
  program.text(setup.order, "order", "of rows and columns", std::string("natural"));
  program.size(iterations, "iterations", "at most; 0: the program's own limit", {0, 10, 10}, 0);
  program.size(source, "source", "vertex or row to start from", 0, 0);
  program.size(features, "features", "of a vertex of gcn; 0: 16", {0, 32, 32}, 0, 1024);
  program.choice(options.form, "form", "how rows are shared among lanes", {"auto", "lanes", "vector", "adaptive", "stream"},
                 std::string("auto"));
  program.choice(machine, "machine", "compute units, or the accelerator", {"gpu", "sida"}, std::string("gpu"));
  program.size(block, "block", "of the accelerator: side of the matrix's blocks; 0: by columns and by rows", 0, 0, 256);
  return program.run(argc, argv, [&] {
    setup.iterations = iterations;
    setup.source = source;
    setup.features = features;
    const workload::Application application(setup);
    workload::ProgramRun run;
    if (machine == "sida") {
      std::unique_ptr<workload::AcceleratorJob> job;
      program.measure([&] { job = std::make_unique<workload::AcceleratorJob>(application, block); }, [&] { job->run(); });
      const workload::ApplicationResult result = job->result();
      run.iterations = result.iterations;
      run.check = [&program, bytes = result.elements<unsigned char>()](const workload::ApplicationResult& expected) {
        program.check_equal("the result's byte", bytes, expected.elements<unsigned char>());
      };
    } else {
      options.program = setup.program;
      options.source = setup.source;
      run = run_on_gpu(program, application, options);
    }
    program.report("entries", application.entries());
    program.report("done", run.iterations);
    if (!program.checks()) return;
    const workload::ApplicationResult expected = application.reference();
    program.check_equal("the number of iterations", std::vector{run.iterations}, std::vector{expected.iterations});
    run.check(expected);
  });
}
