// What a launch costs without any work.
kernel void empty(void) {}
