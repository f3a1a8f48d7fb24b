// mistake: a loop in the style of C
model {
  for (int i = 1; i < 3; i = i + 1) {
    print(i);
  }
}
