// mistake: a transformed model block
transformed model {
  target += 1;
}
