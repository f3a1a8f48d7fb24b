// mistake: target += in transformed data
transformed data {
  target += 1;
}
