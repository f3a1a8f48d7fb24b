"""Makes the files beside it with ArviZ 0.23, xarray and zarr 3: `python make.py .`. Their numbers say where they are."""
import sys
import warnings
warnings.simplefilter("ignore")
import arviz as az
import numpy as np

folder = sys.argv[1]
chain, draw = np.meshgrid(np.arange(2.0), np.arange(60.0), indexing="ij")
# mu is 100 chain + draw, theta[i,j] adds i/10 + j/100 (indices from 1)
mu = 100 * chain + draw
theta = mu[..., None, None] + (np.arange(1, 4) / 10)[:, None] + (np.arange(1, 3) / 100)[None, :]
tau = np.exp(np.sin(mu))
stats = {"diverging": (draw % 20 == 0), "energy": mu / 7, "lp": -mu}
posterior = {"mu": mu, "theta": theta, "tau": tau.astype("float32")}
data = az.from_dict(posterior=posterior, sample_stats=stats)
data.to_netcdf(f"{folder}/arviz.nc")
tree = data.to_datatree()
for version in (2, 3):
    tree.to_zarr(f"{folder}/arviz-v{version}.zarr", zarr_format=version)
# tau in steps of 0.001 as small integers, one value missing
tau = np.round(tau, 3)
tau[1, 7] = np.nan
packed = az.from_dict(posterior={"tau": tau})
packing = {"tau": dict(dtype="i2", scale_factor=0.001, add_offset=1.0, _FillValue=-9999)}
packed.posterior.to_netcdf(f"{folder}/packed.nc", group="posterior", encoding=packing)
for version in (2, 3):
    packed.posterior.to_zarr(f"{folder}/packed-v{version}.zarr", group="posterior", zarr_format=version, encoding=packing)
