// mistake: = instead of in
model {
  for (i = 1:3) {
    print(i);
  }
}
