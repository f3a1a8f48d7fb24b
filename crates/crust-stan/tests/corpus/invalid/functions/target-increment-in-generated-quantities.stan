// mistake: target += in generated quantities
generated quantities {
  target += 1;
}
