// Regression after orthogonalising the standardised predictors with a tuple-valued QR call.
functions {
  tuple(matrix, row_vector, row_vector) standardise(matrix raw) {
    row_vector[cols(raw)] centre;
    row_vector[cols(raw)] width;
    matrix[rows(raw), cols(raw)] out = raw;
    for (j in 1 : cols(raw)) {
      centre[j] = mean(raw[ : , j]);
      width[j] = sd(raw[ : , j]);
      out[ : , j] = (raw[ : , j] - centre[j]) / width[j];
    }
    return (out, centre, width);
  }
}
data {
  int<lower=2> n_house;
  int<lower=1, upper=n_house> n_attr;
  matrix[n_house, n_attr] attr;
  vector[n_house] log_price;
}
transformed data {
  matrix[n_house, n_attr] std_attr;
  row_vector[n_attr] centre;
  row_vector[n_attr] width;
  (std_attr, centre, width) = standardise(attr);
  matrix[n_house, n_attr] Q;
  matrix[n_attr, n_attr] R;
  (Q, R) = qr_thin(std_attr);
}
parameters {
  real level;
  vector[n_attr] rotated;
  real<lower=0> noise;
}
model {
  level ~ student_t(3, 12, 5);
  rotated ~ normal(0, 10);
  noise ~ exponential(2);
  log_price ~ normal_id_glm(Q, level, rotated, noise);
}
generated quantities {
  vector[n_attr] per_sd = R \ rotated;
  vector[n_attr] per_unit = per_sd ./ width';
}
