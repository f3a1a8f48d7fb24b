// mistake: a comma after the last argument of a print statement
model {
  print("a", );
}
