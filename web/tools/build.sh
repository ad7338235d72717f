#!/bin/sh
# Builds the page for embedding: build.sh OUTPUT_FOLDER; without a folder only web/dist. Installs the
# packages only when the lock file is newer than what is installed. Builds that share this folder wait
# for each other.
set -eu
cd "$(dirname "$0")/.."
output=${1:-}

install_packages() {
  if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
    npm ci --ignore-scripts --no-progress
  fi
}

exec 9<package.json
if command -v flock >/dev/null; then flock 9; fi
install_packages
if [ -z "$output" ]; then
  exec node node_modules/vite/bin/vite.js build --logLevel warn
fi
node node_modules/vite/bin/vite.js build --logLevel warn --outDir "$output/dist" --emptyOutDir
node tools/embed.mjs "$output/dist" "$output/static_files.cpp"
