// Large: renewal-equation epidemic model for several regions with delays, interventions and partial pooling.
functions {
  // --- delay distributions -------------------------------------------------
  vector discretised_gamma(int n_day, real mean_delay, real sd_delay) {
    real shape = square(mean_delay / sd_delay);
    real rate = mean_delay / square(sd_delay);
    vector[n_day] pmf;
    real previous = 0;
    for (d in 1 : n_day) {
      real here = gamma_cdf(d + 0.5 | shape, rate);
      pmf[d] = here - previous;
      previous = here;
    }
    return pmf / sum(pmf);
  }

  vector discretised_lognormal(int n_day, real mu, real sigma) {
    vector[n_day] upper_cdf;
    for (d in 1 : n_day) {
      upper_cdf[d] = exp(lognormal_lcdf(d | mu, sigma));
    }
    vector[n_day] pmf = upper_cdf;
    pmf[2 : ] -= upper_cdf[ : (n_day - 1)];
    return pmf / sum(pmf);
  }

  // convolve two pmfs and cut at the length of the first
  vector combine_delays(vector a, vector b) {
    int n = num_elements(a);
    vector[n] out = rep_vector(0, n);
    for (i in 1 : n) {
      for (j in 1 : num_elements(b)) {
        if (i + j - 1 > n) {
          break;
        }
        out[i + j - 1] += a[i] * b[j];
      }
    }
    return out;
  }

  // --- renewal process -----------------------------------------------------
  real infectiousness(vector infections, int day, vector reversed_gi) {
    int g = num_elements(reversed_gi);
    int first = max(1, day - g);
    int used = day - first;
    if (used <= 0) {
      return 0;
    }
    return dot_product(infections[first : (day - 1)], tail(reversed_gi, used));
  }

  tuple(vector, vector) renew(int n_day, int n_seed, real log_seed, vector log_r, vector reversed_gi, real pop) {
    vector[n_day] infections;
    vector[n_day] susceptible;
    real remaining = pop;
    for (t in 1 : n_day) {
      if (t <= n_seed) {
        infections[t] = exp(log_seed);
      } else {
        real force = exp(log_r[t]) * infectiousness(infections, t, reversed_gi) / pop;
        infections[t] = -remaining * expm1(-force);
      }
      remaining = fmax(remaining - infections[t], 0.5);
      susceptible[t] = remaining / pop;
    }
    return (infections, susceptible);
  }

  vector lagged_expectation(vector infections, vector delay, real fraction) {
    int n = num_elements(infections);
    vector[n] out;
    for (t in 1 : n) {
      int m = min(t, num_elements(delay));
      out[t] = dot_product(reverse(infections[(t - m + 1) : t]), delay[1 : m]);
    }
    return fmax(fraction * out, 1e-8);
  }

  // --- observation ---------------------------------------------------------
  real reports_lpmf(array[] int y, vector expected, vector weekday_effect, data array[] int weekday, real phi) {
    return neg_binomial_2_lupmf(y | expected .* weekday_effect[weekday], phi);
  }

  array[] int reports_rng(vector expected, vector weekday_effect, data array[] int weekday, real phi) {
    int n = num_elements(expected);
    array[n] int y;
    vector[n] m = expected .* weekday_effect[weekday];
    for (t in 1 : n) {
      // very large means overflow the generator
      y[t] = m[t] > 1e8 ? 100000000 : neg_binomial_2_rng(m[t], phi);
    }
    return y;
  }

  real region_loglik(array[] int regions, int from, int to, data array[,] int cases, data array[,] int deaths, array[] vector case_mean, array[] vector death_mean, vector weekday_effect, data array[] int weekday, vector phi) {
    real ll = 0;
    for (r in regions) {
      ll += reports_lpmf(cases[r] | case_mean[r], weekday_effect, weekday, phi[1]);
      ll += reports_lpmf(deaths[r] | death_mean[r], weekday_effect, weekday, phi[2]);
    }
    return ll;
  }
}
data {
  int<lower=1> n_region;
  int<lower=8> n_day;
  int<lower=1, upper=n_day> n_seed;
  int<lower=0> n_measure;
  array[n_region, n_day] int<lower=0> cases;
  array[n_region, n_day] int<lower=0> deaths;
  vector<lower=1>[n_region] pop;
  array[n_region] matrix<lower=0, upper=1>[n_day, n_measure] measure;
  int<lower=1, upper=7> first_weekday;
  int<lower=1> grainsize;
  int<lower=0, upper=1> prior_only;
}
transformed data {
  int n_gi = 15;
  int n_delay = 40;
  int n_week = (n_day + 6) %/% 7;
  array[n_day] int<lower=1, upper=7> weekday;
  array[n_day] int<lower=1, upper=n_week> week;
  array[n_region] int region_ids = linspaced_int_array(n_region, 1, n_region);
  vector[n_gi] reversed_gi = reverse(discretised_gamma(n_gi, 5.2, 2.1));
  vector[n_delay] incubation = discretised_lognormal(n_delay, 1.6, 0.42);

  for (t in 1 : n_day) {
    weekday[t] = (first_weekday + t - 2) % 7 + 1;
    week[t] = (t - 1) %/% 7 + 1;
  }
  if (sum(pop) < 1000) {
    reject("the populations look wrong: ", pop);
  }
  for (r in 1 : n_region) {
    if (max(cases[r]) > pop[r]) {
      fatal_error("more cases than people in region ", r);
    }
  }
}
parameters {
  // reproduction number
  real log_r0_mean;
  real<lower=0> log_r0_sd;
  vector<offset=log_r0_mean, multiplier=log_r0_sd>[n_region] log_r0;
  vector<lower=0>[n_measure] effect;
  matrix[n_measure, n_region] effect_dev_raw;
  real<lower=0> effect_dev_sd;
  array[n_region] vector[n_week] walk_raw;
  real<lower=0> walk_sd;
  // seeding and reporting
  vector[n_region] log_seed;
  vector<lower=0, upper=1>[n_region] ascertain;
  real<lower=0, upper=0.1> fatality;
  real<lower=1> death_delay_mean;
  real<lower=0.5> death_delay_sd;
  real<lower=0.5> case_delay_mean;
  simplex[7] weekday_share;
  vector<lower=0>[2] phi_inv_sqrt;
}
transformed parameters {
  vector[7] weekday_effect = 7 * weekday_share;
  vector<lower=0>[2] phi = inv_square(phi_inv_sqrt);
  matrix[n_measure, n_region] region_effect = rep_matrix(effect, n_region) + effect_dev_sd * effect_dev_raw;
  array[n_region] vector[n_day] log_r;
  array[n_region] vector[n_day] infections;
  array[n_region] vector[n_day] susceptible;
  array[n_region] vector[n_day] case_mean;
  array[n_region] vector[n_day] death_mean;
  {
    vector[n_delay] case_delay = combine_delays(incubation, discretised_gamma(n_delay, case_delay_mean, 1.5));
    vector[n_delay] death_delay = combine_delays(incubation, discretised_gamma(n_delay, death_delay_mean, death_delay_sd));
    for (r in 1 : n_region) {
      vector[n_week] walk = walk_sd * cumulative_sum(walk_raw[r]);
      log_r[r] = log_r0[r] - measure[r] * region_effect[ : , r] + walk[week];
      (infections[r], susceptible[r]) = renew(n_day, n_seed, log_seed[r], log_r[r], reversed_gi, pop[r]);
      case_mean[r] = lagged_expectation(infections[r], case_delay, ascertain[r]);
      death_mean[r] = lagged_expectation(infections[r], death_delay, fatality);
    }
  }
}
model {
  profile("priors") {
    log_r0_mean ~ normal(log(3), 0.3);
    log_r0_sd ~ normal(0, 0.2);
    log_r0 ~ normal(log_r0_mean, log_r0_sd);
    effect ~ gamma(1, 2);
    to_vector(effect_dev_raw) ~ std_normal();
    effect_dev_sd ~ exponential(10);
    for (r in 1 : n_region) {
      walk_raw[r] ~ std_normal();
    }
    walk_sd ~ exponential(10);
    log_seed ~ normal(2, 2);
    ascertain ~ beta(2, 5);
    fatality ~ beta(10, 1000);
    death_delay_mean ~ normal(18, 2) T[1, ];
    death_delay_sd ~ normal(8, 1);
    case_delay_mean ~ lognormal(1, 0.3);
    weekday_share ~ dirichlet(rep_vector(10, 7));
    phi_inv_sqrt ~ normal(0, 0.5);
  }
  if (!prior_only) {
    profile("likelihood") {
      target += reduce_sum(region_loglik, region_ids, grainsize, cases, deaths, case_mean, death_mean, weekday_effect, weekday, phi);
    }
  }
}
generated quantities {
  array[n_region, n_day] int cases_rep;
  array[n_region, n_day] int deaths_rep;
  matrix[n_region, n_day] r_eff;
  vector[n_region] attack_rate;
  vector[n_region] log_lik;
  for (r in 1 : n_region) {
    cases_rep[r] = reports_rng(case_mean[r], weekday_effect, weekday, phi[1]);
    deaths_rep[r] = reports_rng(death_mean[r], weekday_effect, weekday, phi[2]);
    r_eff[r] = (exp(log_r[r]) .* susceptible[r])';
    attack_rate[r] = 1 - susceptible[r, n_day];
    log_lik[r] = neg_binomial_2_lpmf(cases[r] | case_mean[r] .* weekday_effect[weekday], phi[1])
                 + neg_binomial_2_lpmf(deaths[r] | death_mean[r] .* weekday_effect[weekday], phi[2]);
  }
  int<lower=0, upper=1> under_control = max(r_eff[ : , n_day]) < 1;
}
