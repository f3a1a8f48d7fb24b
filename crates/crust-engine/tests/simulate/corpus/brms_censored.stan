data { int<lower=1> N; vector[N] Y; array[N] int<lower=-1, upper=2> cens; int prior_only; }
parameters { real Intercept; real<lower=0> shape; }
transformed parameters { real lprior = 0; lprior += student_t_lpdf(Intercept | 3, 0.5, 2.5); lprior += gamma_lpdf(shape | 0.01, 0.01); }
model {
  if (!prior_only) {
    vector[N] mu = rep_vector(0.0, N);
    mu += Intercept;
    for (n in 1:N) { mu[n] = exp(mu[n]) / tgamma(1 + 1 / shape); }
    for (n in 1:N) {
      if (cens[n] == 0) { target += weibull_lpdf(Y[n] | shape, mu[n]); }
      else if (cens[n] == 1) { target += weibull_lccdf(Y[n] | shape, mu[n]); }
    }
  }
  target += lprior;
}
