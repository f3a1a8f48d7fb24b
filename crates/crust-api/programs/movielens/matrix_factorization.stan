// Film ratings: a viewer's tastes times a film's properties, in L hidden dimensions, plus noise.
data {
  int<lower=1> N;                           // viewers
  int<lower=1> D;                           // films
  int<lower=1> L;                           // hidden dimensions
  int<lower=0> R;                           // ratings
  array[R] int<lower=1, upper=N> viewer;
  array[R] int<lower=1, upper=D> film;
  vector[R] rating;                         // less the mean of all ratings
}
parameters {
  real<lower=0> scale_u_sq;                 // variance of the tastes
  real<lower=0> scale_v_sq;                 // variance of the properties
  real<lower=0> sigma_sq;                   // variance of the noise
  matrix[N, L] U;                           // tastes
  matrix[L, D] V;                           // properties
}
model {
  scale_u_sq ~ inv_gamma(1, 1);
  scale_v_sq ~ inv_gamma(1, 1);
  sigma_sq ~ inv_gamma(1, 1);
  to_vector(U) ~ normal(0, sqrt(scale_u_sq));
  to_vector(V) ~ normal(0, sqrt(scale_v_sq));
  matrix[N, D] UV = U * V;
  for (r in 1:R) {
    rating[r] ~ normal(UV[viewer[r], film[r]], sqrt(sigma_sq));
  }
}
