// Large: dynamic attack and defence strengths of football clubs, with season simulation and a league table.
functions {
  // score probabilities with a dependence correction for low scores
  real low_score_factor(int hg, int ag, real hl, real al, real dep) {
    if (hg > 1 || ag > 1) {
      return 0;
    } else if (hg == 0 && ag == 0) {
      return log1m(hl * al * dep);
    } else if (hg == 0) {
      return log1p(hl * dep);
    } else if (ag == 0) {
      return log1p(al * dep);
    }
    return log1m(dep);
  }
  real score_lpmf(array[] int goals, real home_log_rate, real away_log_rate, real dep) {
    return poisson_log_lpmf(goals[1] | home_log_rate) + poisson_log_lpmf(goals[2] | away_log_rate)
           + low_score_factor(goals[1], goals[2], exp(home_log_rate), exp(away_log_rate), dep);
  }
  real scores_partial_lpmf(array[,] int goals, int from, int to, vector home_log_rate, vector away_log_rate, real dep) {
    real ll = 0;
    for (g in 1 : size(goals)) {
      ll += score_lupmf(goals[g] | home_log_rate[from + g - 1], away_log_rate[from + g - 1], dep);
    }
    return ll;
  }
  array[] int score_rng(real home_log_rate, real away_log_rate, real dep) {
    // rejection sampling around independent counts
    int tries = 0;
    array[2] int goals = {0, 0};
    while (1) {
      goals = {poisson_log_rng(home_log_rate), poisson_log_rng(away_log_rate)};
      real accept = exp(low_score_factor(goals[1], goals[2], exp(home_log_rate), exp(away_log_rate), dep)) / 2;
      tries += 1;
      if (uniform_rng(0, 1) < accept || tries > 50) break;
    }
    return goals;
  }
  int points(int own, int other) {
    return own > other ? 3 : own == other ? 1 : 0;
  }
  // columns: points, goal difference, goals
  array[,] int add_result(array[,] int table, int home, int away, array[] int goals) {
    array[size(table), 3] int out = table;
    out[home, 1] += points(goals[1], goals[2]);
    out[away, 1] += points(goals[2], goals[1]);
    out[home, 2] += goals[1] - goals[2];
    out[away, 2] += goals[2] - goals[1];
    out[home, 3] += goals[1];
    out[away, 3] += goals[2];
    return out;
  }
  array[] int ranking(array[,] int table) {
    int n = size(table);
    vector[n] key;
    for (i in 1 : n) {
      key[i] = table[i, 1] * 1e6 + (table[i, 2] + 500) * 1e3 + table[i, 3];
    }
    array[n] int order = sort_indices_desc(key);
    array[n] int place;
    for (p in 1 : n) place[order[p]] = p;
    return place;
  }
}
data {
  int<lower=2> n_club;
  int<lower=1> n_round;
  int<lower=1> n_played;
  array[n_played, 2] int<lower=1, upper=n_club> clubs;
  array[n_played, 2] int<lower=0> goals;
  array[n_played] int<lower=1, upper=n_round> round_of;
  int<lower=0> n_left;
  array[n_left, 2] int<lower=1, upper=n_club> left_clubs;
  array[n_left] int<lower=1, upper=n_round> left_round;
  array[n_club] int<lower=0, upper=1> promoted;
  array[n_club] tuple(real, real<lower=0>) wage_bill; // log millions and its uncertainty
  int<lower=1, upper=n_club> n_relegated;
  int<lower=1> grainsize;
}
transformed data {
  array[n_club, 3] int table_now = rep_array(0, n_club, 3);
  vector[n_club] wage;
  vector[n_club] is_new = to_vector(promoted);
  int last_round = max(round_of);
  for (g in 1 : n_played) {
    if (clubs[g, 1] == clubs[g, 2]) reject("game ", g, " has one club only");
    table_now = add_result(table_now, clubs[g, 1], clubs[g, 2], goals[g]);
  }
  for (c in 1 : n_club) wage[c] = wage_bill[c].1;
  wage = (wage - mean(wage)) / sd(wage);
  array[n_club] int place_now = ranking(table_now);
}
parameters {
  real base;
  real home_edge;
  sum_to_zero_vector[n_club] home_extra_raw;
  real<lower=0> home_extra_sd;
  real<lower=-0.2, upper=0.2> dep;
  // start of season
  array[2] real wage_slope;
  array[2] real new_shift;
  array[2] vector[n_club] start_raw;
  vector<lower=0>[2] start_sd;
  // evolution
  array[2] matrix[n_club, n_round] step_raw;
  vector<lower=0>[2] step_sd;
  vector<lower=0, upper=1>[2] keep;
}
transformed parameters {
  vector[n_club] home_extra = home_extra_sd * home_extra_raw;
  array[2] matrix[n_club, n_round] strength; // 1 attack, 2 defence
  for (s in 1 : 2) {
    vector[n_club] centre = wage_slope[s] * wage + new_shift[s] * is_new;
    strength[s][ : , 1] = centre + start_sd[s] * start_raw[s];
    for (r in 2 : n_round) {
      strength[s][ : , r] = centre + keep[s] * (strength[s][ : , r - 1] - centre) + step_sd[s] * step_raw[s][ : , r];
    }
    for (r in 1 : n_round) {
      strength[s][ : , r] -= mean(strength[s][ : , r]);
    }
  }
}
model {
  vector[n_played] home_log_rate;
  vector[n_played] away_log_rate;
  base ~ normal(0.2, 0.3);
  home_edge ~ normal(0.2, 0.1);
  home_extra_raw ~ std_normal();
  home_extra_sd ~ exponential(20);
  dep ~ normal(0, 0.1) T[-0.2, 0.2];
  wage_slope ~ normal(0.2, 0.2);
  new_shift ~ normal(-0.2, 0.2);
  for (s in 1 : 2) {
    start_raw[s] ~ std_normal();
    to_vector(step_raw[s]) ~ std_normal();
  }
  start_sd ~ normal(0, 0.3);
  step_sd ~ exponential(30);
  keep ~ beta(20, 1);
  for (g in 1 : n_played) {
    int h = clubs[g, 1];
    int a = clubs[g, 2];
    int r = round_of[g];
    home_log_rate[g] = base + home_edge + home_extra[h] + strength[1, h, r] - strength[2, a, r];
    away_log_rate[g] = base + strength[1, a, r] - strength[2, h, r];
  }
  target += reduce_sum(scores_partial_lupmf, goals, grainsize, home_log_rate, away_log_rate, dep);
}
generated quantities {
  array[n_club] int<lower=1, upper=n_club> final_place;
  array[n_club] int<lower=0> final_points;
  array[n_left, 2] int sim_goals;
  array[n_club] int<lower=0, upper=1> champion;
  array[n_club] int<lower=0, upper=1> relegated;
  tuple(vector[n_club], vector[n_club]) form = (strength[1][ : , last_round], strength[2][ : , last_round]);
  {
    array[n_club, 3] int table = table_now;
    for (g in 1 : n_left) {
      int h = left_clubs[g, 1];
      int a = left_clubs[g, 2];
      int r = left_round[g];
      sim_goals[g] = score_rng(base + home_edge + home_extra[h] + strength[1, h, r] - strength[2, a, r], base + strength[1, a, r] - strength[2, h, r], dep);
      table = add_result(table, h, a, sim_goals[g]);
    }
    final_place = ranking(table);
    final_points = table[ : , 1];
  }
  for (c in 1 : n_club) {
    champion[c] = final_place[c] == 1;
    relegated[c] = final_place[c] > n_club - n_relegated;
  }
}
