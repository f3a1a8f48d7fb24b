// Include with a file name in angle brackets; the include path is `parts`.
data {
#include <counts_data.inc>
}
parameters { real<lower=0> rate; }
model { count ~ poisson(rate); }
