// A logistic regression with a regularised horseshoe.
data { int N; int D; matrix[N, D] x; array[N] int<lower=0, upper=1> y; }
parameters { real beta0; vector[D] z; real<lower=0> tau; vector<lower=0>[D] lambda; real<lower=0> caux; }
transformed parameters {
  vector[D] beta;
  {
    real c = 2 * sqrt(caux);
    vector[D] lambda_tilde = sqrt(c ^ 2 * square(lambda) ./ (c ^ 2 + tau ^ 2 * square(lambda)));
    beta = z .* lambda_tilde * tau;
  }
}
model {
  z ~ std_normal();
  lambda ~ student_t(1, 0, 1);
  tau ~ student_t(1, 0, 0.1);
  caux ~ inv_gamma(2, 2);
  beta0 ~ normal(0, 5);
  y ~ bernoulli_logit(beta0 + x * beta);
}
