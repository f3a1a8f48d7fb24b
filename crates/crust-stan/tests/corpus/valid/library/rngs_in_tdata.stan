// Random draws in transformed data: fake data for a simulation study.
transformed data {
  int n = 50;
  real mu_true = normal_rng(0, 5);
  real<lower=0> sd_true = abs(cauchy_rng(0, 1));
  vector[n] y;
  array[n] int k = poisson_rng(rep_vector(3, n));
  for (i in 1 : n) y[i] = student_t_rng(4, mu_true, sd_true);
  array[n] int perm = sort_indices_asc(to_vector(uniform_rng(rep_vector(0, n), 1)));
  print("true values: ", mu_true, " ", sd_true, " ", perm[1]);
}
parameters { real mu; real<lower=0> sd_y; real<lower=0> rate; }
model { mu ~ normal(0, 5); sd_y ~ cauchy(0, 1); y ~ student_t(4, mu, sd_y); k ~ poisson(rate); }
generated quantities { array[2] int<lower=0, upper=1> below = {mu < mu_true, sd_y < sd_true}; }
