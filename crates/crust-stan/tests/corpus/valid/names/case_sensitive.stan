// Names that differ only in case, and keywords in upper case.
data { int n; int N; real Data; real MODEL; real Vector; real x; real X; }
transformed data { int nN = n + N; int Nn = n - N; real Target = x + X; }
parameters { real Theta; real theta; real THETA; }
model { Theta ~ normal(theta, 1); theta ~ normal(THETA, 1); THETA ~ std_normal(); target += -Target ^ 2; }
