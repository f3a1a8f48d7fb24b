// Operators glued together so that the longest match decides.
transformed data {
  int a = 5;
  int b = 2;
  matrix[2, 2] m = identity_matrix(2);
  int c = a-b;
  int d = a- -b;
  int e = a--b;
  int f = a+-b;
  int g = a%b;
  int h = a%/%b;
  int j = !a==b;
  int k = a<-b;
  int l = !(a!=b);
  matrix[2, 2] t = m'*m';
  matrix[2, 2] u = m'.*m;
  matrix[2, 2] v = m.*m./m;
  matrix[2, 2] w = 1.*m;
  matrix[2, 2] x = m.^2.;
  real y = 1./2.;
  real z = m[1,1]^.5;
  int q = a>=b?a<=b?1:2:3;
}
