// Web traffic: a trend of hinge functions, yearly and weekly harmonics, and holiday effects.
functions {
  vector hinge_trend(vector day, vector knot, real start, real slope, vector bend) {
    vector[num_elements(day)] out = start + slope * day;
    for (j in 1 : num_elements(knot)) {
      out += bend[j] * fmax(day - knot[j], 0);
    }
    return out;
  }
  matrix harmonics(vector day, real period, int order) {
    matrix[num_elements(day), 2 * order] H;
    for (o in 1 : order) {
      H[ : , 2 * o - 1] = sin(2 * pi() * o / period * day);
      H[ : , 2 * o] = cos(2 * pi() * o / period * day);
    }
    return H;
  }
}
data {
  int<lower=1> n;
  vector[n] day;
  vector[n] log_visits;
  int<lower=0> n_knot;
  int<lower=0> n_holiday;
  array[n] int<lower=0, upper=n_holiday> holiday;
}
transformed data {
  vector[n_knot] knot;
  for (j in 1 : n_knot) knot[j] = quantile(day, j / (n_knot + 1.0));
  matrix[n, 20] yearly = harmonics(day, 365.25, 10);
  matrix[n, 6] weekly = harmonics(day, 7, 3);
}
parameters {
  real start;
  real slope;
  vector[n_knot] bend;
  vector[20] b_year;
  vector[6] b_week;
  vector[n_holiday] b_holiday;
  real<lower=0> bend_scale;
  real<lower=0> noise;
}
transformed parameters {
  vector[n] fit = hinge_trend(day, knot, start, slope, bend) + yearly * b_year + weekly * b_week;
  for (i in 1 : n) {
    if (holiday[i]) fit[i] += b_holiday[holiday[i]];
  }
}
model {
  start ~ normal(log_visits[1], 1);
  slope ~ normal(0, 0.1);
  bend ~ double_exponential(0, bend_scale);
  bend_scale ~ exponential(20);
  append_row(b_year, b_week) ~ normal(0, 0.5);
  b_holiday ~ normal(0, 1);
  noise ~ normal(0, 0.5) T[0, ];
  log_visits ~ normal(fit, noise);
}
