// Measures the cost of a launch without work.
kernel void empty(void) {}
