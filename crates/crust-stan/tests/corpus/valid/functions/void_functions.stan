// Functions without result: early return, no return, printing, called in several blocks.
functions {
  void say(int n) {
    if (n < 0) {
      return;
    }
    print("n = ", n);
  }
  void empty_body() { }
  void twice(int n) {
    say(n);
    say(2 * n);
    return;
  }
  void loop_return(array[] int xs) {
    for (x in xs) {
      if (x > 3) return;
      say(x);
    }
  }
  void draw_rng() { print(normal_rng(0, 1)); }
}
transformed data { twice(3); draw_rng(); }
transformed parameters { say(1); }
model { say(2); empty_body(); loop_return({1, 2, 3, 4}); }
generated quantities { draw_rng(); say(-1); }
