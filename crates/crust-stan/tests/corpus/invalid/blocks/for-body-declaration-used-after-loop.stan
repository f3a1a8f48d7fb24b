// mistake: the body of a loop without braces is a declaration, and the name is used after it
model {
  for (i in 1 : 3)
    real a = i;
  target += a;
}
