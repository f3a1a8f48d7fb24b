// mistake: hexadecimal literals do not exist
transformed data {
  int a = 0xff;
}
