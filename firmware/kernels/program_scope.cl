// Program-scope variables: initialised data, zeroed data, and a pointer that the loader must relocate.
global uint counter = 40;
global uint total;
global uint* global counter_pointer = &counter;

// Adds 2 to the counter through the relocated pointer; result[0] = counter, result[1] = total.
kernel void program_scope(global uint* result) {
  *counter_pointer += 2;
  result[0] = counter;
  result[1] = total;
}
