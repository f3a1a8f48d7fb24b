// mistake: a loop without parentheses
model {
  for i in 1:3 {
    print(i);
  }
}
