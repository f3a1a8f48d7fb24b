// mistake: the switch statement does not exist
data {
  int a;
}
model {
  switch (a) {
    case 1: print(1);
  }
}
