// mistake: a loop with nothing after in
model {
  for (i in ) {
    print(i);
  }
}
