// mistake: a loop variable has the name of a data variable
data {
  int i;
}
model {
  for (i in 1:3) {
    print(i);
  }
}
