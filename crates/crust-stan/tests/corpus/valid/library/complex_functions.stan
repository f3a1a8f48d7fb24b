// Functions of complex scalars, vectors and matrices, with Fourier transforms and Schur forms.
data { int<lower=1> n; complex z; complex_vector[n] zv; complex_row_vector[n] zw; complex_matrix[n, n] zm; matrix[n, n] m; vector[n] v; array[n] complex az; real r; }
transformed data {
  complex a = exp(z) + log(z) + log10(z) + sqrt(z) + sin(z) + cos(z) + tan(z) + asin(z) + acos(z) + atan(z) + sinh(z) + cosh(z) + tanh(z) + asinh(z) + acosh(z) + atanh(z) + conj(z) + proj(z) + polar(r, 1) + to_complex() + to_complex(1) + to_complex(1, 2) + pow(z, 2) + z ^ r + pow(z, z) + to_complex(r, r);
  real b = abs(z) + arg(z) + norm(z) + get_real(z) + get_imag(z);
  vector[n] c = get_real(zv) + get_imag(zv) + abs(zv);
  complex_vector[n] d = fft(zv) + inv_fft(zv) + fft(v) + conj(zv) + eigenvalues(zm) + zm * zv + diagonal(zm);
  complex_matrix[n, n] f = fft2(zm) + inv_fft2(zm) + zm * zm + zm' + transpose(zm) + eigenvectors(zm) + complex_schur_decompose_t(zm) + complex_schur_decompose_u(m) + zv * zw;
  tuple(complex_matrix[n, n], complex_matrix[n, n]) g = complex_schur_decompose(zm);
  complex h = sum(zv) + prod(zw) + dot_product(zv, zw) + zw * zv + trace(zm) + az[1] + sum(zm);
  array[n] complex k = az;
  array[n] real l = get_real(az);
  int p = z == to_complex(1, 0) || z != 2i;
  matrix[n, n] q = get_real(zm) + get_imag(zm);
}
