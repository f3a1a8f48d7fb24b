// A variable called T next to truncation brackets, and as a size, an index base and an array.
data { int T; vector[T] y; array[T] int L; real U; }
parameters { real mu; real<lower=0> sigma; }
model {
  for (t in 1 : T) y[t] ~ normal(mu, sigma) T[L[T], U];
  y[T] ~ normal(T, T + sigma) T[, T];
}
generated quantities { real T2 = T; }
