// mistake: a loop variable with an index
model {
  array[3] int a;
  for (a[1] in 1:3) {
    print(1);
  }
}
