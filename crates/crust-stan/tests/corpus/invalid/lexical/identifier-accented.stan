// mistake: an accented letter inside an identifier
data {
  real température;
}
