// mistake: a break after a loop
model {
  for (i in 1 : 3) {
    print(i);
  }
  break;
}
