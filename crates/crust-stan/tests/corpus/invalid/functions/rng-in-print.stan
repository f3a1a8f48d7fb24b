// mistake: a random number generator inside of a print statement of the model
model {
  print(normal_rng(0, 1));
}
