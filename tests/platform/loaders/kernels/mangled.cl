// Kernels with the names that a C++ compiler gives to instances of templates, to overloads, and to members of a namespace.
__kernel void _Z5scaleIfEvPT_(__global float* x) { x[get_global_id(0)] *= 2; }           // scale<float>(float*)
__kernel void _ZN4math6squareIdEEvPT_(__global double* x) { x[get_global_id(0)] *= 2; }  // math::square<double>(double*)
__kernel void _Z6negatePf(__global float* x) { x[get_global_id(0)] *= -1; }              // negate(float*)
__kernel void _Z6negatePi(__global int* x) { x[get_global_id(0)] *= -1; }                // negate(int*)
