functions {
  real pcm(int y, real theta, vector beta) {
    vector[rows(beta) + 1] unsummed; vector[rows(beta) + 1] probs;
    unsummed = append_row(rep_vector(0.0, 1), theta - beta);
    probs = softmax(cumulative_sum(unsummed));
    return categorical_lpmf(y + 1 | probs);
  }
}
data { int<lower=1> I; int<lower=1> J; int<lower=1> N; array[N] int<lower=1, upper=I> ii; array[N] int<lower=1, upper=J> jj; array[N] int<lower=0, upper=2> y; }
parameters { array[I] vector[2] beta; vector[J] theta; real<lower=0> sigma; }
model {
  for (i in 1:I) beta[i] ~ normal(0, 9); theta ~ normal(0, sigma); sigma ~ exponential(.1);
  for (n in 1:N) target += pcm(y[n], theta[jj[n]], beta[ii[n]]);
}
