// String literals with odd contents: empty, backslashes, comment openers, braces.
transformed data {
  int n = 3;
  print("");
  print("plain");
  print("back\slash \n \t \\ stays as typed");
  print("percent %d %s", " braces {} [] ()", " semi; colon:");
  print("// not a comment", "/* nor this */", "#include nothing");
}
