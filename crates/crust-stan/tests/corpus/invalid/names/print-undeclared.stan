// mistake: prints a variable that is not declared
model {
  print("value: ", zeta);
}
