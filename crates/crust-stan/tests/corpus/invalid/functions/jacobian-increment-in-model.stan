// mistake: jacobian += in the model block
model {
  jacobian += 1;
}
