data { int N; vector[N] y; }
parameters { real mu; real<lower=0> tau; vector<lower=0>[N] theta; }
model { mu ~ normal(0, 2); tau ~ normal(0, 1); theta ~ normal(mu, tau); y ~ normal(theta, 1); }
