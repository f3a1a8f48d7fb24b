// Conditional variance recursion (GARCH) written as a function, with a simplex for the weights.
functions {
  vector variance_path(vector shock, vector weight, real long_run, real initial) {
    int n = num_elements(shock);
    vector[n] h;
    h[1] = initial;
    for (i in 1 : n - 1) {
      h[i + 1] = weight[1] * long_run + weight[2] * square(shock[i]) + weight[3] * h[i];
    }
    return h;
  }
}
data {
  int<lower=2> n_day;
  vector[n_day] log_return;
}
transformed data {
  real<lower=0> sample_var = variance(log_return);
}
parameters {
  real drift;
  real<lower=0> long_run;
  simplex[3] weight;
  real<lower=2> tail;
}
model {
  vector[n_day] shock = log_return - drift;
  vector[n_day] h = variance_path(shock, weight, long_run, sample_var);
  drift ~ normal(0, 0.1);
  long_run ~ lognormal(log(sample_var), 1);
  weight ~ dirichlet([1, 1, 8]');
  tail ~ gamma(2, 0.1);
  shock ~ student_t(tail, 0, sqrt(h));
}
