#!/bin/sh
# Builds the page for embedding: build.sh OUTPUT_FOLDER; without a folder only web/dist. Installs the
# packages only when the lock file is newer than what is installed. Builds that share this folder wait
# for each other.
set -eu
cd "$(dirname "$0")/.."
output=${1:-}

# `npm ci` of npm 11 refuses a lock file that lacks the builds of esbuild and rollup for other systems, and
# npm leaves those out of the lock file when a mirror does not have them; `npm install` takes the locked
# versions all the same, and --no-save lets neither file change.
install_packages() {
  if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
    npm install --no-save --ignore-scripts --no-audit --no-fund --no-progress
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
