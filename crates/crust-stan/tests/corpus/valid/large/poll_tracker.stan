// Large: multi-party opinion poll tracker with house effects, regional swings and seat simulation.
functions {
  // map a (K-1)-vector to K log-odds with the last one as reference
  vector with_reference(vector x) {
    return append_row(x, 0);
  }
  matrix with_reference(matrix x) {
    return append_row(x, zeros_row_vector(cols(x)));
  }

  real poll_lpmf(array[] int counts, vector logits, real inflation) {
    // an inflation of 1 is plain multinomial sampling
    if (inflation <= 1) {
      return multinomial_logit_lpmf(counts | logits);
    }
    return dirichlet_multinomial_lpmf(counts | softmax(logits) * (sum(counts) / (inflation - 1)));
  }

  // largest remainders
  array[] int apportion(vector share, int seats) {
    int K = num_elements(share);
    array[K] int won;
    vector[K] quota = share * seats;
    vector[K] remainder;
    for (k in 1 : K) {
      won[k] = 0;
      while (won[k] + 1 <= quota[k]) {
        won[k] += 1;
      }
      remainder[k] = quota[k] - won[k];
    }
    int left = seats - sum(won);
    array[K] int order = sort_indices_desc(remainder);
    for (k in order[1 : left]) {
      won[k] += 1;
    }
    return won;
  }

  // highest averages, as a recursion on the seats still to be given
  array[] int highest_averages(vector share, array[] int won, int left) {
    if (left == 0) {
      return won;
    }
    int K = num_elements(share);
    array[K] int next = won;
    real best = -1;
    int who = 1;
    for (k in 1 : K) {
      real average = share[k] / (won[k] + 1);
      if (average > best) {
        best = average;
        who = k;
      }
    }
    next[who] += 1;
    return highest_averages(share, next, left - 1);
  }

  int coalition_seats(array[] int won, array[] int member) {
    int total = 0;
    for (m in member) total += won[m];
    return total;
  }

  void check_poll(array[] int counts, int index) {
    if (sum(counts) == 0) {
      reject("poll ", index, " is empty");
    }
    for (c in counts) {
      if (c < 0) {
        reject("negative count in poll ", index, ": ", counts);
      }
    }
  }
}
data {
  int<lower=3> n_party;
  int<lower=2> n_day;
  int<lower=1> n_house;
  int<lower=1> n_mode;
  int<lower=1> n_poll;
  array[n_poll, n_party] int<lower=0> counts;
  array[n_poll] int<lower=1, upper=n_day> poll_day;
  array[n_poll] int<lower=1, upper=n_house> house;
  array[n_poll] int<lower=1, upper=n_mode> mode;
  int<lower=1> n_region;
  matrix<lower=0>[n_party, n_region] last_share;
  vector<lower=0>[n_region] region_weight;
  array[n_region] int<lower=1> region_seats;
  int<lower=0, upper=1> use_highest_averages;
  int<lower=1> n_coalition;
  array[n_coalition, n_party] int<lower=0, upper=1> in_coalition;
}
transformed data {
  int free = n_party - 1;
  vector[n_region] w = region_weight / sum(region_weight);
  int total_seats = sum(region_seats);
  int majority = total_seats %/% 2 + 1;
  matrix[n_party, n_region] last_logit;
  vector[n_party] national_last;
  array[n_day] int has_poll = rep_array(0, n_day);

  for (i in 1 : n_poll) {
    check_poll(counts[i], i);
    has_poll[poll_day[i]] = 1;
  }
  for (r in 1 : n_region) {
    vector[n_party] s = last_share[ : , r] + 1e-3;
    last_logit[ : , r] = log(s / sum(s)) - log(s[n_party] / sum(s));
  }
  national_last = last_logit * w;
  print("days with polls: ", sum(has_poll), " of ", n_day, "; majority at ", majority);
}
parameters {
  // national walk on the log-odds scale, backwards from the election
  vector[free] final_day;
  matrix[free, n_day - 1] step_raw;
  vector<lower=0>[free] step_sd;
  cholesky_factor_corr[free] step_L;
  // houses and modes; the effects of all houses sum to zero per party
  array[free] sum_to_zero_vector[n_house] house_raw;
  real<lower=0> house_sd;
  matrix[free, n_mode] mode_raw;
  real<lower=0> mode_sd;
  real<lower=1> inflation;
  // common polling error on the day
  vector[free] error_raw;
  real<lower=0> error_sd;
  // regional swings
  sum_to_zero_matrix[free, n_region] swing_raw;
  real<lower=0> swing_sd;
  real<lower=1> tail;
}
transformed parameters {
  matrix[free, n_day] track;
  matrix[free, n_house] house_effect;
  matrix[free, n_mode] mode_effect = mode_sd * mode_raw;
  vector[free] common_error = error_sd * error_raw;
  track[ : , n_day] = national_last[1 : free] + final_day;
  {
    matrix[free, free] root = diag_pre_multiply(step_sd, step_L);
    matrix[free, n_day - 1] step = root * step_raw;
    for (back in 1 : n_day - 1) {
      int d = n_day - back;
      track[ : , d] = track[ : , d + 1] - step[ : , d];
    }
  }
  for (k in 1 : free) {
    house_effect[k] = house_sd * house_raw[k]';
  }
}
model {
  final_day ~ normal(0, 0.4);
  to_vector(step_raw) ~ std_normal();
  step_sd ~ exponential(50);
  step_L ~ lkj_corr_cholesky(3);
  for (k in 1 : free) {
    house_raw[k] ~ normal(0, inv_sqrt(1 - inv(n_house + 1.0)));
  }
  house_sd ~ normal(0, 0.1);
  to_vector(mode_raw) ~ std_normal();
  mode_sd ~ normal(0, 0.05);
  inflation - 1 ~ exponential(0.5);
  error_raw ~ std_normal();
  error_sd ~ normal(0, 0.05);
  tail ~ gamma(2, 0.1) T[1, ];
  to_vector(swing_raw) ~ student_t(tail, 0, 1);
  swing_sd ~ normal(0, 0.2);
  for (i in 1 : n_poll) {
    vector[free] eta = track[ : , poll_day[i]] + house_effect[ : , house[i]] + mode_effect[ : , mode[i]] + common_error;
    counts[i] ~ poll(with_reference(eta), inflation);
  }
}
generated quantities {
  array[n_day] vector[n_party] national;
  matrix[n_party, n_region] regional;
  array[n_region, n_party] int region_won;
  array[n_party] int<lower=0> won;
  array[n_coalition] int<lower=0, upper=1> has_majority;
  array[n_poll] int largest;

  for (d in 1 : n_day) {
    national[d] = softmax(with_reference(track[ : , d]));
  }
  {
    matrix[n_party, n_region] logit_now = last_logit + rep_matrix(with_reference(final_day), n_region) + with_reference(swing_sd * swing_raw);
    for (r in 1 : n_region) {
      regional[ : , r] = softmax(logit_now[ : , r]);
      region_won[r] = use_highest_averages
                      ? highest_averages(regional[ : , r], rep_array(0, n_party), region_seats[r])
                      : apportion(regional[ : , r], region_seats[r]);
    }
  }
  for (k in 1 : n_party) {
    won[k] = sum(region_won[ : , k]);
  }
  for (c in 1 : n_coalition) {
    int seats = 0;
    for (k in 1 : n_party) {
      if (!in_coalition[c, k]) continue;
      seats += coalition_seats(won, {k});
    }
    has_majority[c] = seats >= majority;
  }
  for (i in 1 : n_poll) {
    array[n_party] int sim = multinomial_logit_rng(with_reference(track[ : , poll_day[i]]), sum(counts[i]));
    largest[i] = sort_indices_desc(sim)[1];
  }
}
