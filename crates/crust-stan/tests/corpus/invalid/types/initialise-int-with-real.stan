// mistake: initialises an int with a real
transformed data {
  int a = 3.0;
}
