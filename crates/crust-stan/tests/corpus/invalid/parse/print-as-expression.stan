// mistake: a print statement as a value
model {
  real a = print("a");
}
