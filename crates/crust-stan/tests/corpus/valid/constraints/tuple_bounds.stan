// Constraints on the components of tuples and of arrays of tuples.
data {
  int<lower=1> k;
  tuple(int<lower=1>, array[k] int<lower=0, upper=1>) d;
  array[k] tuple(real<lower=0>, vector<lower=0, upper=1>[k]) e;
}
parameters {
  tuple(real<lower=0>, simplex[k], array[2] ordered[k]) p;
  array[k] tuple(real<lower=0, upper=1>, unit_vector[3]) q;
  tuple(tuple(real<lower=d.1>, real), corr_matrix[k]) r;
  real<lower=p.1> above_p;
}
transformed parameters {
  tuple(real<lower=0>, vector<lower=p.1>[k]) s = (p.1, p.1 + p.2);
}
model {
  p.1 ~ exponential(1);
  r.1.2 ~ normal(0, 1);
}
