// mistake: includes a file that lies outside the folders for includes
#include ../../../corpus.rs
data {
  int n;
}
