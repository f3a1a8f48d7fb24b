// Retired: `fabs`, now abs.
data { vector[3] v; }
transformed data { real a = fabs(-2.5) + sum(fabs(v)); }
model { }
