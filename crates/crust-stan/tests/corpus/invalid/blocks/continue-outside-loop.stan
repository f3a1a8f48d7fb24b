// mistake: a continue outside of a loop
transformed data {
  if (1) {
    continue;
  }
}
