// Finite impulse response: y[i] = sum over t of coefficients[t] * x[i - t]; the `taps` elements before x[0] are in `history`,
// whose last element is x[-1].
kernel void fir(global const float* x, global const float* coefficients, global const float* history, global float* y,
                uint taps) {
  const uint i = get_global_id(0);
  float sum = 0.0f;
  for (uint t = 0; t < taps; ++t) {
    const float sample = i >= t ? x[i - t] : history[taps + i - t];
    sum = fma(coefficients[t], sample, sum);
  }
  y[i] = sum;
}
