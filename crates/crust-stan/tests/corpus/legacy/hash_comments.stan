# Retired: comments that begin with a hash sign
data {
  int<lower=0> n; # how many
  vector[n] y;    # the values
}
# between blocks
parameters {
  real mu;
}
model {
  # inside a block
  y ~ normal(mu, 1); # at the end of a statement
}
