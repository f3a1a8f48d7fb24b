// Writes tests/golden.json: what WebPPL 0.9.15 itself gives for each program in tests/programs.
// Usage: node generate.js FOLDER_OF_THE_NPM_PACKAGE_WEBPPL
'use strict';
const fs = require('fs');
const path = require('path');
const folder = path.resolve(process.argv[2]);
const webppl = require(path.join(folder, 'src/main'));
const dists = require(path.join(folder, 'src/dists'));
const util = require(path.join(folder, 'src/util'));
const Tensor = require(path.join(folder, 'src/tensor'));
global.suppressWarnings = true;

// the same JSON that `crust run --json` prints
const convert = function(x) {
  if (x === undefined || x === null) return null;
  if (typeof x === 'number') return Number.isFinite(x) ? x : String(x);
  if (typeof x === 'boolean' || typeof x === 'string') return x;
  if (typeof x === 'function') return 'function';
  if (x instanceof Tensor) return {dims: x.dims, data: x.toFlatArray()};
  if (dists.isDist(x)) {
    const out = {distribution: x.meta.name};
    if (x.support && !x.isContinuous) {
      const support = x.support();
      out.support = support.map(convert);
      out.probs = support.map(s => Math.exp(x.score(s)));
    }
    return out;
  }
  if (Array.isArray(x)) return x.map(convert);
  const out = {};
  Object.keys(x).forEach(k => { out[k] = convert(x[k]); });
  return out;
};

// statistics of a sampled distribution, which do not depend on the seed
const summarize = function(kind, value) {
  if (kind === 'value') return value;
  const {support, probs} = convert(value);
  if (kind === 'hist') {
    const hist = {};
    support.forEach((s, i) => { hist[JSON.stringify(s)] = probs[i]; });
    return hist;
  }
  const mean = support.reduce((sum, s, i) => sum + probs[i] * s, 0);
  const variance = support.reduce((sum, s, i) => sum + probs[i] * (s - mean) * (s - mean), 0);
  return {mean: mean, std: Math.sqrt(variance)};
};

const programs = path.join(__dirname, 'programs');
const golden = {source: 'npm package webppl 0.9.15, seed 1, written by tests/generate.js'};
fs.readdirSync(programs).sort().forEach(function(file) {
  const text = fs.readFileSync(path.join(programs, file), 'utf8');
  const kind = text.split('\n')[0].replace('// compare: ', '').split(' ')[0];
  const name = file.replace('.wppl', '');
  util.seedRNG(1);
  try {
    webppl.run(text, function(store, value) {
      golden[name] = kind === 'exact' ? convert(value) : summarize(kind, value);
    });
  } catch (e) {
    console.error(name + ': ' + (e.message || e));
  }
});
fs.writeFileSync(path.join(__dirname, 'golden.json'), JSON.stringify(golden, null, 1) + '\n');
