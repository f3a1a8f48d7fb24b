// A whole block comes from an included file; the include path is `parts`.
#include whole_data_block.inc
parameters { real mu; }
model { y ~ normal(mu, 1); }
