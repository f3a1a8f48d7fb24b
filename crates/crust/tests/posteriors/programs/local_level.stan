// Known: a normal random walk with normal noise, one value of which was not observed.
data {
  int<lower=1> T;
  array[T] int<lower=0, upper=1> seen;
  vector[T] y;
}
parameters {
  vector[T] level;
}
model {
  level[1] ~ normal(0, 2);
  for (t in 2 : T) 
    level[t] ~ normal(level[t - 1], 0.7);
  for (t in 1 : T) 
    if (seen[t]) 
      y[t] ~ normal(level[t], 1);
}
