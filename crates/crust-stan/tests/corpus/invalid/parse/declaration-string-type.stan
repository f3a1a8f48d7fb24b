// mistake: there is no string type
data {
  string s;
}
