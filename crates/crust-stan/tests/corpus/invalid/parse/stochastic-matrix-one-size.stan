// mistake: a stochastic matrix with one size
parameters {
  column_stochastic_matrix[3] P;
}
