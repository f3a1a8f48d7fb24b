// Accepted variants for the analysis that every path returns.
functions {
  real r1(real x) { return x; }
  real r2(real x) { if (x > 0) return 1; return 2; }
  real r3(real x) { if (x > 0) return 1; else return 2; }
  real r4(real x) { if (x > 0) { return 1; } else if (x < 0) { return 2; } else { return 3; } }
  real r5(real x) { { { return x; } } }
  real r6(real x) { while (1) { return x; } }
  real r7(real x) { for (i in 1 : 3) { if (x > i) return x; } return 0; }
  real r8(real x) { for (i in 1 : 3) { return x + i; } }
  real r9(real x) { reject("always ", x); }
  real r10(real x) { fatal_error("always ", x); }
  real r11(real x) { if (x > 0) return x; else reject("negative"); }
  real r12(real x) { if (x > 0) { if (x > 1) { return 1; } else { return 2; } } else { return 3; } }
  real r13(real x) { profile("p") { return x; } }
  real r14(real x) { real y = x; while (y < 10) { y += 1; if (y > 5) break; } return y; }
  real r15(real x) { if (x > 0) { return 1; } else { { if (x < -1) fatal_error("low"); else return 2; } } }
  real r16(array[] real xs) { for (x in xs) { return x; } }
  void r17(real x) { if (x > 0) return; else print(x); }
  real r18(real x) { while (1) { if (x > 1) return 1; } }
}
