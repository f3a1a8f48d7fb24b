// The complex types through all blocks, with arithmetic and promotion from the reals.
data {
  int<lower=1> n;
  complex z0;
  array[n] complex za;
  complex_vector[n] zv;
  complex_matrix[n, n] zm;
}
transformed data {
  complex_row_vector[n] zr = zv';
  complex w = 1;
  w = 2.5;
  w += 1i;
  w *= z0;
  complex_matrix[n, n] prod_zm = zm * zm;
  complex_vector[n] promoted = rep_vector(1.0, n);
  array[2] complex mixed = {1, 2.0 + 1i};
}
parameters {
  complex theta;
  complex_vector[n] phi;
  complex_row_vector[n] rho;
  complex_matrix[n, 2] psi;
  array[3] complex_vector[2] many;
}
transformed parameters {
  complex total = theta + sum(phi);
  complex_vector[n] scaled = 2 * phi;
}
model {
  get_real(theta) ~ normal(0, 1);
  get_imag(theta) ~ normal(0, 1);
  get_real(phi) ~ normal(0, 1);
  get_imag(phi) ~ normal(0, 1);
  for (j in 1 : n) {
    target += -square(abs(rho[j])) - square(abs(psi[j, 1]));
  }
}
generated quantities {
  complex conjugate = conj(total);
  real angle = arg(total);
  complex inner = rho * phi;
  int same = total == conjugate;
  int differ = total != 1;
}
