// mistake: two model blocks
model {
  target += 1;
}
model {
  target += 2;
}
