#!/usr/bin/env bash
# Puts the built fuzz targets into a folder that runs on another machine: fuzz/bundle.sh BUILD FOLDER
# Targets (without debug information), the libraries that a bare system lacks, seeds, and run.sh
# as go.sh. BUILD is the build folder of the preset "fuzz".
set -euo pipefail
build=${1:?fuzz/bundle.sh BUILD FOLDER}
folder=${2:?fuzz/bundle.sh BUILD FOLDER}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder/lib"
for target in "$build"/fuzz/*_fuzz; do
  install -m 755 "$target" "$folder/"
  strip --strip-debug "$folder/$(basename "$target")"  # addresses stay: addr2line on BUILD's target names the lines
  ldd "$target" | awk '$1 ~ /^lib(fmt|hwy)/ {print $3}' | xargs -r -I{} cp -L {} "$folder/lib/"
done
python3 "$here/make_seeds.py" "$folder/seeds"
cp "$here/run.sh" "$folder/go.sh"
du -sh "$folder"
