// mistake: a return with a value in transformed data
transformed data {
  return 3;
}
