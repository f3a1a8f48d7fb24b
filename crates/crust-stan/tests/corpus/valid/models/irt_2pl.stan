// Two-parameter logistic item response model with correlated item parameters.
data {
  int<lower=1> n_person;
  int<lower=1> n_item;
  int<lower=1> n_resp;
  array[n_resp] int<lower=1, upper=n_person> person;
  array[n_resp] int<lower=1, upper=n_item> item;
  array[n_resp] int<lower=0, upper=1> correct;
}
parameters {
  vector[n_person] ability;
  array[n_item] vector[2] item_par;
  vector[2] item_mean;
  vector<lower=0>[2] item_sd;
  cholesky_factor_corr[2] item_L;
}
transformed parameters {
  vector[n_item] discrimination = exp(to_vector(item_par[ : , 1]));
  vector[n_item] difficulty = to_vector(item_par[ : , 2]);
}
model {
  ability ~ std_normal();
  item_mean ~ normal(0, 1);
  item_sd ~ exponential(1);
  item_L ~ lkj_corr_cholesky(2);
  item_par ~ multi_normal_cholesky(item_mean, diag_pre_multiply(item_sd, item_L));
  correct ~ bernoulli_logit(discrimination[item] .* (ability[person] - difficulty[item]));
}
