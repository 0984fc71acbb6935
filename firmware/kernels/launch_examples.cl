// Kernels of docs/guide/launch.md and of tests/system/launch*.sh: arguments of all kinds for `lacuna launch`, and small
// published algorithms.

// Floyd-Warshall, step k: all shortest paths through vertices 0 to k.
kernel void floyd_warshall(global int* path, int n, int k) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  const int via = path[y * n + k] + path[k * n + x];
  if (via < path[y * n + x]) path[y * n + x] = via;
}

// Bellman-Ford: one round of relaxation from every vertex; `changed` reports to the host whether another round is needed.
kernel void relax(global const int* weight, global int* distance, global int* changed, int n) {
  const int to = get_global_id(0);
  int best = distance[to];
  for (int from = 0; from < n; ++from) best = min(best, distance[from] + weight[from * n + to]);
  if (best < distance[to]) {
    distance[to] = best;
    *changed = 1;
  }
}

// One compare-and-exchange pass of a bitonic sort.
kernel void bitonic_pass(global uint* values, uint distance, uint run) {
  const uint i = get_global_id(0);
  const uint partner = i ^ distance;
  if (partner <= i) return;
  const bool ascending = (i & run) == 0;
  const uint a = values[i];
  const uint b = values[partner];
  if ((a > b) == ascending) {
    values[i] = b;
    values[partner] = a;
  }
}

kernel void nothing(global int* unused) { (void)unused; }

// Has every kind of argument, and sums up the received values.
kernel void arguments(global int* out, local int* reversed, float4 vector, char c, short s, long l, double d,
                      local double* shared, global const int* optional) {
  const uint i = get_local_id(0);
  reversed[i] = (int)i;
  shared[i] = d;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] =
      reversed[get_local_size(0) - 1 - i] + (int)vector.w + c + s + (int)l + (int)shared[i] + (optional != 0 ? optional[0] : 0);
}

// Grid dimensions according to the hidden arguments and the packet.
kernel void shape(global int* out) {
  if (get_global_linear_id() != 0) return;
  for (uint d = 0; d < 3; ++d) {
    out[d] = (int)get_global_size(d);
    out[3 + d] = (int)get_enqueued_local_size(d);
    out[6 + d] = (int)get_num_groups(d);
    out[9 + d] = (int)get_global_offset(d);
  }
  out[12] = (int)get_work_dim();
}

kernel __attribute__((reqd_work_group_size(32, 2, 1))) void required_size(global int* out) {
  out[get_global_id(0) + get_global_id(1) * get_global_size(0)] = (int)(get_local_id(1) * 100 + get_local_id(0));
}

__attribute__((noinline)) int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
kernel void recursion(global int* out, int n) { out[get_global_id(0)] = fibonacci(n); }

kernel void divide(global const float* a, global const float* b, global float* quotient) {
  const uint i = get_global_id(0);
  quotient[i] = a[i] / b[i];
}
