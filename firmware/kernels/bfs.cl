// Breadth-first search, one level. GROUP work-items together examine GROUP vertices, and share the edges of each vertex of this
// level. Several work-items may reach a vertex concurrently: all write the same value.
#define GROUP 32
#define NOT_REACHED (-1)

kernel __attribute__((reqd_work_group_size(1024, 1, 1))) void bfs_level(global int* level_of, global const uint* first_edge,
                                                                        global const uint* edge, uint vertices, int level,
                                                                        global int* changed) {
  const uint lane = get_global_id(0) % GROUP;
  const uint begin = get_global_id(0) - lane;
  const uint end = min(begin + GROUP, vertices);
  for (uint v = begin; v < end; ++v) {
    if (level_of[v] != level) continue;
    const uint last = first_edge[v + 1];
    for (uint e = first_edge[v] + lane; e < last; e += GROUP) {
      const uint target = edge[e];
      if (level_of[target] != NOT_REACHED) continue;
      level_of[target] = level + 1;
      *changed = 1;
    }
  }
}
