// Local linear trend by a Kalman filter of matrices; some observations are missing.
data {
  int<lower=1> T;
  vector[T] y;
  array[T] int<lower=0, upper=1> seen;
}
transformed data {
  matrix[2, 2] F = [[1, 1], [0, 1]];
  row_vector[2] H = [1, 0];
}
parameters {
  real<lower=0> sigma_y;
  vector<lower=0>[2] sigma_state;
  vector[2] m0;
}
model {
  vector[2] m = m0;
  matrix[2, 2] P = 2.0 * identity_matrix(2);
  matrix[2, 2] Q = diag_matrix(square(sigma_state));
  sigma_y ~ exponential(1);
  sigma_state ~ exponential(1);
  m0 ~ normal(0, 2);
  for (t in 1:T) {
    m = F * m;
    P = quad_form_sym(P, F') + Q;
    if (seen[t]) {
      real S = H * P * H' + square(sigma_y);
      real innovation = y[t] - H * m;
      vector[2] gain = P * H' / S;
      target += normal_lpdf(innovation | 0, sqrt(S));
      m += gain * innovation;
      P -= gain * gain' * S;
      P = 0.5 * (P + P');
    }
  }
}
