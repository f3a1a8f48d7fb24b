// mistake: target is assigned to
model {
  target = 1;
}
