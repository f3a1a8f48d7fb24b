// Conditional autoregression on a lattice of counties, quadratic form from CSR parts of the adjacency matrix.
functions {
  real county_field_lpdf(vector f, real precision, real strength, data tuple(vector, array[] int, array[] int) adj, data vector degree, data vector eig) {
    int n = num_elements(f);
    vector[n] neighbours = csr_matrix_times_vector(n, n, adj.1, adj.2, adj.3, f);
    real quad = dot_product(f, degree .* f - strength * neighbours);
    return 0.5 * (n * log(precision) + sum(log1m(strength * eig)) - precision * quad);
  }
}
data {
  int<lower=1> n_county;
  matrix<lower=0, upper=1>[n_county, n_county] adjacency;
  array[n_county] int<lower=0> deaths;
  vector[n_county] log_pop;
}
transformed data {
  vector[n_county] degree = adjacency * rep_vector(1, n_county);
  int nnz = 0;
  for (a in adjacency) nnz += a > 0;
  tuple(vector[nnz], array[nnz] int, array[n_county + 1] int) adj = csr_extract(adjacency);
  vector[n_county] eig = eigenvalues_sym(quad_form_diag(adjacency, inv_sqrt(degree)));
}
parameters {
  real level;
  vector[n_county] f;
  real<lower=0> precision;
  real<lower=0, upper=1> strength;
}
model {
  level ~ normal(-5, 3);
  precision ~ gamma(2, 1);
  f ~ county_field(precision, strength, adj, degree, eig);
  deaths ~ poisson_log(level + log_pop + f);
}
