// mistake: a keyword as a loop variable
model {
  for (in in 1:3) {
    print(1);
  }
}
