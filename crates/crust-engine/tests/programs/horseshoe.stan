// Linear regression with the regularised horseshoe.
data {
  int<lower=1> N;
  int<lower=1> K;
  matrix[N, K] X;
  vector[N] y;
}
parameters {
  real alpha;
  vector[K] z;
  vector<lower=0>[K] lambda;
  real<lower=0> tau;
  real<lower=0> caux;
  real<lower=0> sigma;
}
transformed parameters {
  real c = 2 * sqrt(caux);
  vector[K] lambda_tilde = sqrt(c ^ 2 * square(lambda) ./ (c ^ 2 + tau ^ 2 * square(lambda)));
  vector[K] beta = z .* lambda_tilde * tau;
}
model {
  z ~ std_normal();
  lambda ~ student_t(1, 0, 1);
  tau ~ student_t(1, 0, 0.3 * sigma);
  caux ~ inv_gamma(2, 2);
  alpha ~ normal(0, 5);
  sigma ~ scaled_inv_chi_square(3, 1);
  y ~ normal_id_glm(X, alpha, beta, sigma);
}
