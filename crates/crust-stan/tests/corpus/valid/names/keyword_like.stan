// Identifiers that start with, end with or contain keywords, and C++ keywords as names.
data {
  int for_; int in_x; int ifx; int whiles; int realm; int integer; int vectors; int matrix2; int array_; int Tuple; int targets; int data_x; int models; int lower_bound; int upper_; int lower1; int offset_; int multiplier2; int functionss; int returns; int breaks; int Real; int INT; int T; int T1; int voids; int printx; int rejects; int profiles; int jacobian_; int simplexes; int generatedq;
  int class; int namespace; int new; int double; int template; int char; int delete; int public; int operator; int typename; int using; int bool; int mutable;
}
transformed data {
  int s = for_ + in_x + class + new + T;
}
