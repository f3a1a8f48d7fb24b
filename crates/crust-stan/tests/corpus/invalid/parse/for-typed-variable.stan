// mistake: a loop variable with a type
model {
  for (int i in 1:3) {
    print(i);
  }
}
