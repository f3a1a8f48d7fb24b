// mistake: the word false as a value
model {
  if (false) {
    print(1);
  }
}
