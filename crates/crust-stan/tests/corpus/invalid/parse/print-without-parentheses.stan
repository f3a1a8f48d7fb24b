// mistake: a print statement without parentheses
model {
  print "hello";
}
