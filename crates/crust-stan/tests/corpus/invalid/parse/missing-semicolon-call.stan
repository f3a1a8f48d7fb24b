// mistake: no semicolon after a print statement
model {
  print("a")
  print("b");
}
