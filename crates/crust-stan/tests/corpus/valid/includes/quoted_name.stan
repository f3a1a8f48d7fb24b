// Include with a quoted file name; the include path is `parts`.
functions {
#include "shape.stanfunctions"
}
data { vector[3] t; }
generated quantities { vector[3] b = bumps(t); }
