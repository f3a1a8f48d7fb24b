// mistake: jacobian += in generated quantities
generated quantities {
  jacobian += 1;
}
