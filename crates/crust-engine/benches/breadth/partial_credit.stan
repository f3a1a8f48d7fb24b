// Generalised partial credit: a loop over a function of the program.
functions {
  real pcm(int y, real theta, vector beta) {
    vector[rows(beta) + 1] unsummed;
    vector[rows(beta) + 1] probs;
    unsummed = append_row(rep_vector(0.0, 1), theta - beta);
    probs = softmax(cumulative_sum(unsummed));
    return categorical_lpmf(y + 1 | probs);
  }
}
data {
  int I; int J; int N; array[N] int ii; array[N] int jj; array[N] int<lower=0> y;
  int m; array[I] int pos;
}
parameters { vector[I * m] beta; vector[J] theta; real<lower=0> sigma; vector<lower=0>[I] alpha; }
model {
  beta ~ normal(0, 3);
  alpha ~ lognormal(1, 1);
  theta ~ normal(0, sigma);
  sigma ~ exponential(.1);
  for (n in 1:N) target += pcm(y[n], theta[jj[n]] * alpha[ii[n]], segment(beta, pos[ii[n]], m));
}
