// Retired: `<-` and old arrays next to a truncated distribution statement.
data { int<lower=0> n; real<lower=0> t[n]; }
parameters { real<lower=0> rate; }
model {
  real total;
  total <- 0;
  for (i in 1:n) {
    t[i] ~ exponential(rate) T[0.5, ];
    total <- total + t[i];
  }
  print("total ", total);
}
