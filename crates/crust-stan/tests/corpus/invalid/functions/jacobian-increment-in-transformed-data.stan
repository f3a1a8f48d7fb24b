// mistake: jacobian += in transformed data
transformed data {
  jacobian += 1;
}
