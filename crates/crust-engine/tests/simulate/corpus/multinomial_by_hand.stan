data { int K; array[K] int<lower=0> y; }
parameters { simplex[K] theta; }
model { theta ~ dirichlet(rep_vector(1.0, K)); y ~ multinomial(theta); }
