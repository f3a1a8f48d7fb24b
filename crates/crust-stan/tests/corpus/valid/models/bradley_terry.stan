// Paired comparisons (Bradley-Terry) with a sum-to-zero skill vector and a ranking.
data {
  int<lower=2> n_team;
  int<lower=0> n_match;
  array[n_match] int<lower=1, upper=n_team> home;
  array[n_match] int<lower=1, upper=n_team> away;
  array[n_match] int<lower=0, upper=1> home_won;
}
parameters {
  sum_to_zero_vector[n_team] skill;
  real home_edge;
  real<lower=0> tau;
}
model {
  tau ~ lognormal(0, 0.5);
  skill ~ normal(0, tau);
  home_edge ~ normal(0, 0.5);
  home_won ~ bernoulli_logit(home_edge + skill[home] - skill[away]);
}
generated quantities {
  array[n_team] int<lower=1, upper=n_team> place;
  {
    array[n_team] int order = sort_indices_desc(skill);
    for (r in 1 : n_team) place[order[r]] = r;
  }
}
