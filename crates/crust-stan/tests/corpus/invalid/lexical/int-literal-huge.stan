// mistake: an integer literal with thirty digits
transformed data {
  int a = 100000000000000000000000000000;
}
