data {
  int N;
  vector[N] y;
}
parameters {
  simplex[3] w;
  vector[3] mu;
  vector<lower=0>[3] sigma;
}
model {
  mu ~ normal(0, 10);
  sigma ~ exponential(1);
  w ~ dirichlet(rep_vector(2, 3));
  for (n in 1:N) {
    vector[3] lps = log(w);
    for (k in 1:3) lps[k] += normal_lpdf(y[n] | mu[k], sigma[k]);
    target += log_sum_exp(lps);
  }
}
