// mistake: the word until as a loop variable
model {
  for (until in 1:3) {
    print(until);
  }
}
