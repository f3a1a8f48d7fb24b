// mistake: a print statement in the data block
data {
  print("x");
}
