// mistake: an else without an if
model {
  else {
    print(1);
  }
}
