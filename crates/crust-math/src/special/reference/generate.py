"""Writes the reference values of the tests of special functions, with mpmath at 50 digits.

Each line is `function arguments… = value partials…`; the arguments are exact doubles. Run `python3 generate.py [family]`.
"""

import random
import sys

from mpmath import mp, mpf

mp.dps = 50
DIGITS = 22


def partials(f, args, which):
    out = []
    for i in which:
        with mp.workdps(80):
            step = mpf(10) ** -25 * (abs(args[i]) if args[i] else 1)

            def along(t, i=i):
                return f(*args[:i], t, *args[i + 1 :])

            # central differences of fourth order: the error is about step⁴ = 1e-100
            d = 8 * (along(args[i] + step) - along(args[i] - step))
            d -= along(args[i] + 2 * step) - along(args[i] - 2 * step)
            out.append(d / (12 * step))
    return out


def line(out, name, f, args, which=(), complement=None):
    """Partials of an `f` near 1 are those of its complement, which does not lose their digits."""
    exact = [mpf(a) for a in args]
    values = [f(*exact)]
    if complement and values[0] > 0.5:
        values += [-d for d in partials(complement, exact, which)]
    else:
        values += partials(f, exact, which)
    shown = " ".join(mp.nstr(mp.re(v), DIGITS, min_fixed=0, max_fixed=0) for v in values)
    out.write(f"{name} {' '.join(repr(a) for a in args)} = {shown}\n")


def log_uniform(r, low, high):
    return float(mp.exp(r.uniform(float(mp.log(low)), float(mp.log(high)))))


def gamma(out):
    r = random.Random(1)
    points = [1e-300, 1e-20, 1e-5, 0.1, 0.5, 0.99999, 1.0, 1.00001, 1.5, 1.99, 2.0, 2.01, 10.0, 171.5, 1e5, 1e15, 1e100]
    points += [-0.5, -1e-10, -1.5, -2.4, -10.3, -100.7] + [log_uniform(r, 1e-3, 1e4) for _ in range(20)]
    for x in points:
        line(out, "lgamma", lambda x: mp.log(abs(mp.gamma(x))) if x < 1e4 else mp.loggamma(x), [x])
        line(out, "digamma", mp.digamma, [x])
        if abs(x) > 1e-100:
            line(out, "trigamma", lambda x: mp.polygamma(1, x), [x])
            line(out, "polygamma2", lambda x: mp.polygamma(2, x), [x])
        if 1e-5 < x:
            line(out, "polygamma5", lambda x: mp.polygamma(5, x), [x])
        if abs(x) < 172:
            line(out, "tgamma", mp.gamma, [x], [0])
    for k in [1, 2, 5, 20]:
        for x in [0.5 * k, 0.5 * k + 10, 1000.5]:
            line(out, "lmgamma", lambda k, x: k * (k - 1) / 4 * mp.log(mp.pi)
                 + sum(mp.loggamma(x - mpf(j) / 2) for j in range(int(k))), [float(k), x], [1])
    log_beta = lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    for _ in range(40):
        a, b = log_uniform(r, 1e-5, 1e8), log_uniform(r, 1e-5, 1e8)
        line(out, "lbeta", log_beta, [a, b], [0, 1])
        n = log_uniform(r, 1, 1e9)
        k = float(int(n * r.random())) or 0.5
        line(out, "lchoose", lambda n, k: -mp.log(n + 1) - log_beta(k + 1, n - k + 1), [n, k], [0, 1])
        x = log_uniform(r, 1e-2, 1e6)
        n = log_uniform(r, 1e-2, 1e3)
        line(out, "log_rising_factorial", lambda x, n: mp.loggamma(x + n) - mp.loggamma(x), [x, n], [0, 1])
        if n < x:
            line(out, "log_falling_factorial", lambda x, n: mp.loggamma(x + 1) - mp.loggamma(x - n + 1), [x, n], [0, 1])
    for x, n in [(0.3, 5), (-2.5, 4), (10.0, 3), (2.0, 5), (7.7, 0)]:
        line(out, "rising_factorial", lambda x, n: mp.rf(x, n), [x, float(n)], [0])
        line(out, "falling_factorial", lambda x, n: mp.ff(x, n), [x, float(n)], [0])


def normal(out):
    r = random.Random(2)
    points = [0.0, -1e-20, 1e-5, -1e-5, -0.3, 0.3, -0.99, -1.01, 1.0, -2.5, 2.5, -5.0, 5.0, 8.1, -8.1, -20.3, -37.5]
    points += [r.uniform(-37, 8) for _ in range(20)]
    for x in points:
        line(out, "erf", mp.erf, [x], [0] if abs(x) < 6 else [])
        line(out, "Phi", lambda x: mp.erfc(-x / mp.sqrt(2)) / 2, [x], [0])
        if -6 < x < 26:
            line(out, "erfc", mp.erfc, [x], [0])
        line(out, "Phi_approx", lambda x: 1 / (1 + mp.exp(-(mpf(0.07056) * x**3 + mpf(1.5976) * x))), [x], [0])
    for x in points + [10.0, 30.0, 37.0, -40.0, -1e3, -1e5, -1e8]:
        def log_phi(x):
            if x < -50:  # DLMF 7.12.1, which converges to 80 digits as far out as this only for large x
                z, term, total = 1 / x**2, mpf(1), mpf(0)
                if abs(x) < 500:
                    return mp.log(mp.erfc(-x / mp.sqrt(2)) / 2)
                for n in range(1, 30):
                    total, term = total + term, -term * (2 * n - 1) * z
                return -x * x / 2 - mp.log(-x) - mp.log(2 * mp.pi) / 2 + mp.log(total)
            return mp.log1p(-mp.erfc(x / mp.sqrt(2)) / 2) if x > 0 else mp.log(mp.erfc(-x / mp.sqrt(2)) / 2)
        line(out, "log_Phi", log_phi, [x], [0])

    def quantile(p):
        with mp.workdps(100):
            x = mpf(0)
            target = mp.log(p)
            if target > -30:
                x = mp.sqrt(2) * mp.erfinv(2 * p - 1)
            else:
                x = -mp.sqrt(-2 * target - mp.log(2 * mp.pi) - mp.log(-2 * target))
            for _ in range(12):
                c = mp.erfc(-x / mp.sqrt(2)) / 2
                x -= (c - p) * mp.sqrt(2 * mp.pi) * mp.exp(x * x / 2)
            return +x
    probabilities = [1e-300, 1e-100, 1e-20, 1e-10, 1e-5, 0.01, 0.1, 0.3, 0.4999999, 0.5000001, 0.7, 0.9, 0.99]
    probabilities += [1 - 1e-5, 1 - 1e-10, 1 - 2.0**-53] + [log_uniform(r, 1e-200, 1) for _ in range(10)]
    for p in probabilities:
        line(out, "inv_Phi", quantile, [p], [0])
        line(out, "inv_erfc", lambda p: -quantile(p / 2) / mp.sqrt(2), [p], [0])
    for lp in [-1e-300, -1e-20, -1e-5, -0.3, -0.69, -0.7, -1.0, -30.0, -600.0, -699.0, -800.0, -1e4]:
        line(out, "std_normal_log_qf", lambda lp: quantile(mp.exp(lp)) if lp < -1 else -quantile(-mp.expm1(lp)), [lp], [0])

    def owens_t(h, a):
        with mp.workdps(40):
            cut = [a * k / 16 for k in range(17)]
            mass = mp.quad(lambda x: mp.exp(-h * h * x * x / 2) / (1 + x * x), cut)
            return mp.exp(-h * h / 2) * mass / (2 * mp.pi)
    for h in [0.0, 0.01, 0.5, 1.0, -2.3, 4.8, 7.0, 10.0, 25.0]:
        for a in [0.01, 0.5, 0.99, -1.0, 1.5, 4.0, 30.0, 1e4]:
            if abs(h * a) > 60:
                f = lambda h, a: mp.sign(a) * mp.erfc(abs(h) / mp.sqrt(2)) / 4
            else:
                f = owens_t
            line(out, "owens_t", f, [h, a])


def incomplete_gamma(out):
    r = random.Random(3)
    points = [(1e-10, 0.5), (1e-3, 1e-5), (0.1, 1e-3), (0.5, 0.2), (0.5, 30.0), (1.0, 1.0), (2.5, 1e-8), (3.0, 600.0)]
    points += [(30.0, 30.0), (30.0, 10.0), (100.0, 150.0), (1e3, 1e3), (1e3, 800.0), (1e3, 1200.0), (1e4, 1.01e4)]
    points += [(5.0, 2000.0), (50.0, 1e-5), (1e5, 1.001e5), (1e5, 99800.0), (0.3, 1.2), (1e-5, 1e-100), (0.9, 1.1)]
    for _ in range(40):
        a = log_uniform(r, 1e-3, 1e4)
        points.append((a, log_uniform(r, 1e-4, 50.0) if r.random() < 0.3 else a * float(mp.exp(r.gauss(0, 1.5) / (a + 0.3) ** 0.5))))
    for a, x in points:
        with mp.workdps(60 + (60 if a < 1e-4 else 0)):
            p = lambda a, x: mp.gammainc(a, 0, x, regularized=True)
            q = lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True)
            line(out, "gamma_p", p, [a, x], [0, 1], q)
            line(out, "gamma_q", q, [a, x], [0, 1], p)
            line(out, "log_gamma_p", lambda a, x: mp.log(p(a, x)) if p(a, x) < 0.5 else mp.log1p(-q(a, x)), [a, x], [0, 1])
            line(out, "log_gamma_q", lambda a, x: mp.log(q(a, x)) if q(a, x) < 0.5 else mp.log1p(-p(a, x)), [a, x], [0, 1])


def incomplete_beta(out):
    r = random.Random(4)
    def lower(a, b, x):
        # DLMF 8.17.8: the series has positive terms only
        return mp.exp(a * mp.log(x) + b * mp.log1p(-x) - mp.log(a) - mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(a + b)) * mp.hyp2f1(a + b, 1, a + 1, x)
    points = [(1.0, 1.0, 0.3), (0.5, 0.5, 0.1), (0.5, 0.5, 0.999), (2.0, 3.0, 1e-10), (1e-3, 2.0, 1e-5), (1e-6, 0.7, 0.2)]
    points += [(10.0, 10.0, 0.5), (100.0, 200.0, 0.3), (1e3, 2e3, 0.34), (30.0, 0.2, 0.9), (0.2, 30.0, 0.01), (5.0, 1e3, 0.5)]
    points += [(1e4, 1e4, 0.505), (50.0, 3.0, 1e-3), (1e5, 10.0, 0.9999), (0.5, 15.0, 1e-4), (20.0, 1e-4, 0.5), (1e-8, 1e-8, 0.4)]
    for _ in range(40):
        a, b = log_uniform(r, 1e-2, 2e3), log_uniform(r, 1e-2, 2e3)
        m, s = a / (a + b), (a * b / (a + b + 1)) ** 0.5 / (a + b)
        x = r.gauss(m, 3 * s) if r.random() < 0.6 else r.random()
        points.append((a, b, x if 0 < x < 1 else r.random()))
    for a, b, x in points:
        with mp.workdps(80):
            f = lambda a, b, x: lower(a, b, x)
            g = lambda a, b, x: lower(b, a, 1 - x)
            line(out, "inc_beta", f, [a, b, x], [0, 1, 2], g)
            line(out, "inc_beta_complement", g, [a, b, x], [0, 1, 2], f)
            line(out, "log_inc_beta", lambda a, b, x: mp.log(f(a, b, x)) if f(a, b, x) < 0.5 else mp.log1p(-g(a, b, x)), [a, b, x], [0, 1, 2])
            line(out, "log_inc_beta_complement", lambda a, b, x: mp.log(g(a, b, x)) if g(a, b, x) < 0.5 else mp.log1p(-f(a, b, x)), [a, b, x], [0, 1, 2])


def bessel(out):
    r = random.Random(5)
    for n in [0, 1, 2, 3, 7, 20, 55]:
        for x in [1e-5, 0.3, 1.0, 4.7, 11.0, 30.5, 99.0, 650.0]:
            line(out, "bessel_first_kind", lambda n, x: mp.besselj(n, x), [float(n), x], [1])
            if abs(mp.bessely(n, x)) < 1e290:
                line(out, "bessel_second_kind", lambda n, x: mp.bessely(n, x), [float(n), x], [1])
                line(out, "modified_bessel_second_kind", lambda n, x: mp.besselk(n, x), [float(n), x], [1])
            line(out, "modified_bessel_first_kind", lambda n, x: mp.besseli(n, x), [float(n), x], [1])
    points = [(0.0, 1.0), (0.5, 1e-5), (0.3, 3.0), (2.5, 12.0), (10.0, 1.0), (0.0, 500.0), (3.3, 1e4), (100.0, 5.0), (100.0, 300.0)]
    points += [(1e3, 10.0), (1e3, 1e4), (7.0, 30.0), (7.0, 31.0), (-0.5, 2.0)]
    points += [(log_uniform(r, 1e-2, 1e3), log_uniform(r, 1e-3, 1e4)) for _ in range(30)]
    for v, x in points:
        line(out, "log_modified_bessel_first_kind", lambda v, x: mp.log(mp.besseli(v, x)), [v, x], [0, 1])


def other(out):
    r = random.Random(6)
    e = float(-mp.exp(-1))
    for x in [1e-300, 1e-10, -1e-5, -0.1, -0.3, -0.367, -0.36787, e + 2.0**-50, 0.5, 1.0, 10.0, 1e5, 1e100, 1e300]:
        line(out, "lambert_w0", lambda x: mp.lambertw(x).real, [x], [0])
    for x in [-1e-300, -1e-100, -1e-10, -1e-5, -0.1, -0.3, -0.367, -0.36787, e + 2.0**-50]:
        line(out, "lambert_wm1", lambda x: mp.lambertw(x, -1).real, [x], [0])
    for _ in range(25):
        a, b, c = r.uniform(-3, 5), r.uniform(0.1, 5), r.uniform(0.2, 6)
        line(out, "hypergeometric_2F1", mp.hyp2f1, [a, b, c, r.uniform(-0.95, 0.9)], [0, 1, 2, 3])
        line(out, "hypergeometric_2F1", mp.hyp2f1, [a, b, c, -log_uniform(r, 1.1, 1e3)])
        z = r.uniform(-0.9, 0.9)
        line(out, "hypergeometric_1F0", lambda a, z: (1 - z) ** -a, [a, z], [0, 1])
        d, e = r.uniform(0.3, 4), r.uniform(0.4, 4)
        line(out, "hypergeometric_3F2", mp.hyp3f2, [abs(a), b, d, c, e, z], [0, 5] if len(str(a)) else [])
    for x, y in [(1.0, 0.5), (1e-9, -1e-9), (-5.0, -5.0000001), (50.0, -20.0), (800.0, 3.0), (-700.0, -701.0)]:
        sig = lambda x: 1 / (1 + mp.exp(-x))
        line(out, "log_inv_logit_diff", lambda x, y: mp.log(sig(x) - sig(y)), [x, y], [0, 1])
        line(out, "log_diff_exp", lambda x, y: mp.log(mp.exp(x) - mp.exp(y)), [x, y], [0, 1])
        line(out, "log_sum_exp", lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), [x, y], [0, 1])
    for x in [-750.0, -40.0, -1.0, -1e-10, 0.3, 1.0, 20.0, 40.0, 800.0]:
        with mp.workdps(400):
            line(out, "log1p_exp", lambda x: mp.log1p(mp.exp(x)), [x], [0])
            line(out, "inv_logit", lambda x: 1 / (1 + mp.exp(-x)), [x], [0])
            if x < 4:
                line(out, "inv_cloglog", lambda x: -mp.expm1(-mp.exp(x)), [x], [0])
            if x < 0:
                line(out, "log1m_exp", lambda x: mp.log(-mp.expm1(x)), [x], [0])
    for p in [1e-300, 1e-5, 0.2, 0.4999, 0.5001, 0.7, 1 - 1e-9]:
        line(out, "logit", lambda p: mp.log(p / (1 - p)), [p], [0])
    for theta, x, y in [(0.3, 1.0, -2.0), (0.9, -700.0, -690.0), (1e-5, 3.0, 2.0)]:
        line(out, "log_mix", lambda t, x, y: mp.log(t * mp.exp(x) + (1 - t) * mp.exp(y)), [theta, x, y], [0, 1, 2])


FAMILIES = [gamma, normal, incomplete_gamma, incomplete_beta, bessel, other]
for family in FAMILIES:
    if len(sys.argv) < 2 or family.__name__ in sys.argv[1:]:
        with open(f"{family.__name__}.txt", "w") as out:
            family(out)
