// mistake: uses a variable that is not declared
model {
  target += alpha;
}
