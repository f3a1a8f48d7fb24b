// mistake: includes itself (include path: includes/)
#include includes-itself.stan
model {
  target += 1;
}
