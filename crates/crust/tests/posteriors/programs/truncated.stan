// Known: moments of truncated normals; `inner` has a bound that moves with `outer`, so that it needs its normaliser.
parameters {
  real<lower=0> half;
  real<lower=-1, upper=2> between;
  real<upper=1> below;
  real<lower=0> outer;
  real<lower=0, upper=outer> inner;
}
model {
  half ~ normal(0, 3);
  between ~ normal(0.5, 1.5);
  below ~ normal(2, 1) T[ , 1];
  outer ~ gamma(4, 2);
  inner ~ exponential(1) T[ , outer];
}
