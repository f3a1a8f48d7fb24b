// Reduced-rank (Hilbert space) approximation of a Gaussian process.
functions {
  vector eigen_root(int m, real box) {
    return pi() / (2 * box) * linspaced_vector(m, 1, m);
  }
  matrix basis(vector x, vector lambda, real box) {
    int n = num_elements(x);
    int m = num_elements(lambda);
    matrix[n, m] out;
    for (j in 1 : m) out[ : , j] = sin(lambda[j] * (x + box)) / sqrt(box);
    return out;
  }
}
data {
  int<lower=1> n;
  int<lower=1> m;
  vector[n] x;
  vector[n] y;
}
transformed data {
  real box = 1.5 * max(abs(x));
  vector[m] lambda = eigen_root(m, box);
  matrix[n, m] B = basis(x, lambda, box);
}
parameters {
  real<lower=0> amp;
  real<lower=0> len;
  real<lower=0> noise;
  vector[m] z;
}
model {
  vector[m] spd_root = amp * sqrt(sqrt(2 * pi()) * len) * exp(-0.25 * square(len * lambda));
  amp ~ normal(0, 1);
  len ~ inv_gamma(3, 1);
  noise ~ normal(0, 1);
  z ~ std_normal();
  y ~ normal(B * (spd_root .* z), noise);
}
