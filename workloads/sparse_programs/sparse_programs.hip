// The programs of the sparse dataflow accelerator as sparse kernels: y = x A over a semiring and element-wise operations, on
// the matrices that `lacuna sida run` takes. The same process can hand the program to the accelerator of the GPU that it runs
// on.
//
//   pr, label        products by columns, with all that follows in the same kernel (product.h, rank.h)
#include <hip/hip_runtime.h>

#include "workloads/sparse_programs/rank.h"

int main(int argc, char** argv) {
  workload::Program program("sparse_programs", "Graph programs and solvers: products with a sparse matrix in a loop",
                            "Democratizing tensor processors (thesis), Table 4.2: programs of SIDA, on GPUs by GraphBLAST");
  workload::ApplicationSetup setup;
  workload::RunOptions options;
  std::string machine;
  int iterations = 0, source = 0, block = 0;
  program.choice(setup.program, "program", "the program", {"pr", "label"}, std::string("pr"));
  program.text(setup.matrix, "matrix", "a file, or a kind and its numbers",
               {"power:rows=1500,entries=12000", "power:rows=20000,entries=256000", "power:rows=55733,entries=730000"});
  program.text(setup.order, "order", "of rows and columns", std::string("natural"));
  program.size(iterations, "iterations", "at most; 0: the program's own limit", {0, 10, 10}, 0);
  program.size(source, "source", "vertex or row to start from", 0, 0);
  program.choice(options.form, "form", "how rows are shared among lanes", {"auto", "vector", "adaptive"}, std::string("auto"));
  program.choice(machine, "machine", "compute units, or the accelerator", {"gpu", "sida"}, std::string("gpu"));
  program.size(block, "block", "of the accelerator: side of the matrix's blocks; 0: by columns and by rows", 0, 0, 256);
  return program.run(argc, argv, [&] {
    setup.iterations = iterations;
    setup.source = source;
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
    } else if (setup.program == "pr") {
      run = workload::run_pr(program, application, options);
    } else {
      run = workload::run_label(program, application, options);
    }
    program.report("entries", application.entries());
    program.report("done", run.iterations);
    if (!program.checks()) return;
    const workload::ApplicationResult expected = application.reference();
    program.check_equal("the number of iterations", std::vector{run.iterations}, std::vector{expected.iterations});
    run.check(expected);
  });
}
