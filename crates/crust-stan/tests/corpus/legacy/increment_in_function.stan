// Retired: `increment_log_prob` in a user function whose name ends in _lp.
functions {
  void add_penalty_lp(vector b, real w) {
    increment_log_prob(-w * dot_self(b));
  }
}
parameters { vector[4] b; }
model { add_penalty_lp(b, 0.5); }
