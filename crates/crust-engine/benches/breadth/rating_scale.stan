// Ordered categories with nested loops and a function that builds the probabilities one by one.
functions {
  vector category_probs(real eta, vector steps) {
    int K = num_elements(steps) + 1;
    vector[K] p;
    real total = 1;
    real running = 0;
    p[1] = 1;
    for (k in 2:K) {
      running += eta - steps[k - 1];
      p[k] = exp(running);
      total += p[k];
    }
    return p / total;
  }
}
data { int I; int J; int K; array[J, I] int<lower=1, upper=K> y; }
parameters { vector[J] theta; vector[I] b; vector[K - 1] steps; real<lower=0> sigma; }
model {
  theta ~ normal(0, sigma);
  b ~ normal(0, 3);
  steps ~ normal(0, 3);
  sigma ~ cauchy(0, 5);
  for (j in 1:J) {
    for (i in 1:I) {
      vector[K] p = category_probs(theta[j] - b[i], steps);
      target += log(p[y[j, i]]);
    }
  }
}
