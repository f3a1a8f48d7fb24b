#!/bin/sh
# Writes the leukemia data of Golub et al. (1999) as a table for `crust reproduce taddaa-cancer --data leukemia.csv`.
# They are in Debian's package r-bioc-golubesets (Debian 13 and later); apt gets it from this machine's own mirror, with
# lists and a cache of its own, so that nothing of the system changes and no package is installed.
#   tools/fetch_leukemia.sh [leukemia.csv] [SUITE]
set -eu
out=${1:-leukemia.csv}
suite=${2:-trixie}
package=r-bioc-golubesets
here=$(cd "$(dirname "$0")" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/parts"

# The first archive of Debian that this machine asks.
mirror=$(apt-get indextargets --format '$(SITE)' 'Origin: Debian' 'Created-By: Packages' | head -n 1)
if [ -z "$mirror" ]; then
    echo "apt of this machine knows no archive of Debian" >&2
    exit 1
fi
keys=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keys] $mirror $suite main" > "$work/sources.list"

private() {
    tool=$1
    shift
    "$tool" -q \
        -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts="$work/parts" \
        -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work" -o Dir::Cache::Archives="$work/archives" \
        -o APT::Sandbox::User="" -o Acquire::Languages=none "$@"
}
private apt-get update >&2
(cd "$work" && private apt-get download "$package" >&2)
dpkg-deb --extract "$work"/"$package"_*.deb "$work/package"
library=$(find "$work/package" -type d -path '*/golubEsets/data')
python3 "$here/leukemia_table.py" "$library" "$out"
