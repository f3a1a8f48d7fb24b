// Not retired, but 2.39 warns: a program without any block.
/* nothing */
