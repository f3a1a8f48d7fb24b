// Tuples of one component: a trailing comma in the type, in the literal and in destructuring.
functions {
  real only(tuple(real,) t) { return t.1; }
  tuple(vector, ) wrap(vector v) { return (v,); }
}
data { tuple(int<lower=0>,) d; array[2] tuple(vector[2],) a; }
transformed data {
  tuple(int,) x = (1,);
  int y = x.1 + d.1;
  real z;
  (z,) = (2,);
  x.1 = 4;
  tuple(tuple(int,), real) nested = ((1,), 2);
  real w = only((3,)) + wrap(a[1].1).1[2] + nested.1.1;
}
