// Unicode letters in comments and strings: ü, ß, 漢字, Ελληνικά, 🦀, “quotes”.
/* Größe der Stichprobe — naïve Schätzung ± 2σ */
data {
  int n; // число наблюдений
}
model {
  print("résumé: μ=", n, " ✓ 🦀 日本語");
  if (n < 0) {
    reject("n doit être ≥ 0; reçu ", n);
  }
}
