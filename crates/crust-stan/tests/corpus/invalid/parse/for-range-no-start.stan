// mistake: a loop whose range has no start
model {
  for (i in :3) {
    print(i);
  }
}
