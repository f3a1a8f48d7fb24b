// mistake: a print statement without arguments
model {
  print();
}
