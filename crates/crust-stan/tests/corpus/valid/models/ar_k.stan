// Autoregression of order k, stationary by partial autocorrelations.
functions {
  vector to_ar(vector pac) {
    int k = num_elements(pac);
    vector[k] phi = pac;
    for (j in 2 : k) {
      vector[j - 1] prev = phi[1 : (j - 1)];
      for (i in 1 : (j - 1)) phi[i] = prev[i] - pac[j] * prev[j - i];
    }
    return phi;
  }
}
data {
  int<lower=1> T;
  int<lower=1, upper=T - 1> k;
  vector[T] y;
}
parameters {
  real mu;
  vector<lower=-1, upper=1>[k] pac;
  real<lower=0> sigma;
}
transformed parameters {
  vector[k] phi = to_ar(pac);
}
model {
  mu ~ normal(0, 10);
  (pac + 1) / 2 ~ beta(2, 2);
  sigma ~ exponential(1);
  for (t in (k + 1) : T) {
    y[t] ~ normal(mu + dot_product(phi, reverse(y[(t - k) : (t - 1)] - mu)), sigma);
  }
}
