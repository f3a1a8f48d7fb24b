// mistake: nothing before the tilde
model {
  ~ normal(0, 1);
}
