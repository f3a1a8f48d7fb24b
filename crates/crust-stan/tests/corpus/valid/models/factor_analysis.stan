// Confirmatory-style factor analysis with a lower-trapezoidal loading matrix.
data {
  int<lower=1> n;
  int<lower=2> p;
  int<lower=1, upper=p> k;
  array[n] vector[p] y;
}
transformed data {
  int n_free = k * (p - k) + (k * (k - 1)) %/% 2;
}
parameters {
  vector[n_free] free_loading;
  vector<lower=0>[k] diag_loading;
  vector<lower=0>[p] psi;
  vector[p] mu;
}
transformed parameters {
  matrix[p, k] Lambda = rep_matrix(0, p, k);
  {
    int pos = 1;
    for (j in 1 : k) {
      Lambda[j, j] = diag_loading[j];
      for (i in (j + 1) : p) {
        Lambda[i, j] = free_loading[pos];
        pos += 1;
      }
    }
  }
}
model {
  free_loading ~ normal(0, 1);
  diag_loading ~ normal(0, 1);
  psi ~ inv_gamma(2, 1);
  mu ~ normal(0, 5);
  y ~ multi_normal(mu, add_diag(tcrossprod(Lambda), psi));
}
