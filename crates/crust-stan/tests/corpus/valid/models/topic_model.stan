// Topic model on a document-term table: each document's counts follow a mixture of topic profiles.
data {
  int<lower=1> n_text;
  int<lower=2> n_term;
  int<lower=2> n_theme;
  array[n_text, n_term] int<lower=0> term_count;
}
parameters {
  row_stochastic_matrix[n_text, n_theme] mix;
  row_stochastic_matrix[n_theme, n_term] profile_of;
}
transformed parameters {
  matrix[n_text, n_term] term_prob = mix * profile_of;
}
model {
  for (d in 1 : n_text) {
    mix[d]' ~ dirichlet(rep_vector(0.3, n_theme));
    term_count[d] ~ multinomial(term_prob[d]');
  }
  for (k in 1 : n_theme) {
    to_vector(profile_of[k]) ~ dirichlet(rep_vector(0.1, n_term));
  }
}
generated quantities {
  array[n_theme] int top_term;
  for (k in 1 : n_theme) {
    top_term[k] = sort_indices_desc(profile_of[k])[1];
  }
}
