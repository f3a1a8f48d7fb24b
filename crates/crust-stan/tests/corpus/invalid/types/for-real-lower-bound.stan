// mistake: a loop that starts at a real
model {
  for (i in 1.0 : 3) {
    print(i);
  }
}
