// mistake: left division of scalars
transformed data {
  real c = 2.0 \ 3.0;
}
