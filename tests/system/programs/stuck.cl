// Kernels that never end. Each first stores 1 to `started`.

// A mutex for each lane: in lockstep, the lane that holds its mutex waits for the lanes that try to lock it.
kernel void mutex(global volatile int* lock, global volatile int* started) {
  *started = 1;
  while (atomic_cmpxchg(lock, 0, 1) != 0) {
  }
  *started += 1;
  atomic_xchg(lock, 0);
}

// Wavefront 0 waits at a barrier, wavefront 1 for a flag that is never set.
kernel void half_barrier(global volatile int* flag, global volatile int* started) {
  *started = 1;
  if (get_local_id(0) < 64) {
    barrier(CLK_GLOBAL_MEM_FENCE);
  } else {
    while (atomic_add(flag, 0) == 0) {
    }
  }
}
