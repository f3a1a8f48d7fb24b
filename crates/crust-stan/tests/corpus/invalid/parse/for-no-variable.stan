// mistake: a loop without a variable
model {
  for (1:3) {
    print(1);
  }
}
