// Retired: assignment with `<-` instead of `=`, in every block and to indexed targets.
data {
  int<lower=0> n;
  vector[n] obs;
}
transformed data {
  real m;
  vector[n] c;
  m <- mean(obs);
  for (i in 1:n)
    c[i] <- obs[i] - m;
}
parameters {
  real<lower=0> s;
}
transformed parameters {
  real v;
  v <- square(s);
}
model {
  c ~ normal(0, s);
}
generated quantities {
  real w;
  w <- v + 1;
}
