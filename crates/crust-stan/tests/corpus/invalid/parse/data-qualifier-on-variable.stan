// mistake: the word data in front of a variable
transformed data {
  data real x = 1;
}
