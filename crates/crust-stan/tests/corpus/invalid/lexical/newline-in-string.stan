// mistake: a string literal runs over the end of the line
model {
  print("first line
second line");
}
