// mistake: the do … while loop does not exist
transformed data {
  int a = 1;
  do {
    a += 1;
  } while (a < 3);
}
