// mistake: a loop variable is used after the loop
model {
  for (i in 1:3) {
    print(i);
  }
  print(i);
}
