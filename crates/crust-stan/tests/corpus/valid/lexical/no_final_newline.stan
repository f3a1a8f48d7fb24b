// A program whose last line is a comment without a final newline.
model { }
// end