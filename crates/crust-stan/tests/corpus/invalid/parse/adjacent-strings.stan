// mistake: two strings without a comma
model {
  print("a" "b");
}
