// Logistic regression with the GLM density and a summary of the accuracy.
data {
  int<lower=0> n;
  int<lower=0> k;
  matrix[n, k] features;
  array[n] int<lower=0, upper=1> label;
}
parameters {
  real bias;
  vector[k] weight;
}
model {
  bias ~ normal(0, 2.5);
  weight ~ normal(0, 1);
  label ~ bernoulli_logit_glm(features, bias, weight);
}
generated quantities {
  real accuracy = 0;
  {
    vector[n] eta = bias + features * weight;
    for (i in 1 : n) {
      accuracy += (eta[i] > 0) == label[i];
    }
    accuracy /= n;
  }
}
