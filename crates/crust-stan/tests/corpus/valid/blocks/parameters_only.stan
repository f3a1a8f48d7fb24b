// A program with only a parameters block (flat density on the whole space).
parameters {
  vector<lower=0, upper=1>[2] corner;
}
