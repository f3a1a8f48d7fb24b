// mistake: a statement in the functions block
functions {
  print("hello");
}
