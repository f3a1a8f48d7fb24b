// Assignment to tuple members, with indexes before and after the member selection.
transformed data {
  tuple(int, real) t;
  tuple(tuple(int, vector[2]), array[2] matrix[2, 2]) n;
  array[2] tuple(vector[2], array[2] tuple(int, int)) a;
  t = (1, 2);
  t.1 = 3;
  t.2 = 4;
  t.2 = 4.5;
  n.1 = (1, [1, 2]');
  n.1.1 = 2;
  n.1.2 = [3, 4]';
  n.1.2[1] = 5;
  n.1.2[1 : 2] = [6, 7]';
  n.2[1] = [[1, 2], [3, 4]];
  n.2[1, 2] = [1, 2];
  n.2[1, 2, 1] = 8;
  n.2[1][ : , 1] = [1, 2]';
  a[1] = ([1, 2]', {(1, 2), (3, 4)});
  a[1].1 = [3, 4]';
  a[1].1[2] = 5;
  a[2].2[1] = (5, 6);
  a[2].2[1].2 = 7;
  a[1 : 2] = a[{2, 1}];
  a = {a[2], a[1]};
}
