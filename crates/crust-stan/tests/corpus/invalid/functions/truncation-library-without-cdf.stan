// mistake: a truncation of a library distribution without cumulative functions
data {
  int n;
}
model {
  n ~ bernoulli_logit(0.5) T[0, ];
}
