// mistake: a return in the model block
model {
  return;
}
