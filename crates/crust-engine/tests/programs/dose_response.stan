// A four-parameter curve of dose and response with plate effects and errors that grow with the mean.
functions {
  real curve(real dose, real bottom, real top, real log_ec50, real hill) {
    if (dose <= 0) return bottom;
    return bottom + (top - bottom) * inv_logit(hill * (log(dose) - log_ec50));
  }
}
data {
  int<lower=0> N;
  int<lower=1> J;
  array[N] int<lower=1, upper=J> plate;
  array[N] real<lower=0> dose;
  vector<lower=0>[N] y;
}
parameters {
  real<lower=0> bottom;
  real<lower=bottom> top;
  real log_ec50;
  real<lower=0> hill;
  array[J] real effect;
  real<lower=0> sigma;
  real<lower=0> cv;
}
model {
  bottom ~ exponential(1);
  top ~ pareto(0.1, 1.5);
  log_ec50 ~ skew_normal(0, 2, 1);
  hill ~ weibull(2, 1);
  effect ~ normal(0, 0.2);
  sigma ~ rayleigh(0.5);
  cv ~ chi_square(3);
  for (n in 1:N) {
    real mean_y = curve(dose[n], bottom, top, log_ec50, hill) * exp(effect[plate[n]]);
    y[n] ~ gamma(inv_square(cv + 0.1), inv_square(cv + 0.1) / (mean_y + 0.01));
    y[n] ~ normal(mean_y, hypot(sigma, cv * mean_y)) T[0, ];
  }
}
