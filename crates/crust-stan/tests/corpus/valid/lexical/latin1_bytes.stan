// Bytes that are not UTF-8 (Latin-1 letters) in comments and in a string: Größe.
/* éè ÿ */
model {
  print("naïve");
  target += 1; // ü
}
