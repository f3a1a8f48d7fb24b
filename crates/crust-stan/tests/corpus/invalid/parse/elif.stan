// mistake: the word elif does not exist
data {
  int a;
}
model {
  if (a == 1) {
    print(1);
  } elif (a == 2) {
    print(2);
  }
}
