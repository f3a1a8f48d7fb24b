// mistake: the word const does not exist
transformed data {
  const real x = 1;
}
