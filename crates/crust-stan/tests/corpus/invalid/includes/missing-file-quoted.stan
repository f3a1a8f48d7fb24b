// mistake: includes a file that does not exist, in quotation marks (include path: includes/)
data {
#include "parts/not-here.inc"
}
