// if, else-if chains, dangling else, bodies with and without braces.
data {
  int a;
  int b;
  real x;
}
transformed data {
  int code = 0;
  if (a) code = 1;
  if (a > b) code = 2; else code = 3;
  if (a > b) {
    code = 4;
  } else if (a == b) {
    code = 5;
  } else if (a < -10)
    code = 6;
  else {
    code = 7;
  }
  // the else belongs to the inner if
  if (a > 0)
    if (b > 0)
      code = 8;
    else
      code = 9;
  // braces move the else to the outer if
  if (a > 0) {
    if (b > 0)
      code = 10;
  } else
    code = 11;
  if (x > 0.5 && !(a == b) || b != 3)
    ;
  else
    code = 12;
  if (1) { } else { }
}
