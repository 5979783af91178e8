#!/usr/bin/env bash
# Opens exported sessions in a headless Chromium (ci/export-browser.mjs): a rich one, a hostile one, one of 5,000 entries, and
# those named.
#
#     ci/export-browser.sh [TRANSCRIPT…]
#
# Needs Chromium and Node 18. Where Chromium is missing and this is root on Debian it is installed; else the reason is said and
# nothing fails. Pictures are left in target/export-browser.
set -euo pipefail
cd "$(dirname "$0")/.."

chromium() {
  local name
  for name in chromium chromium-browser google-chrome; do
    # The program, not this function of the same name.
    type -P "$name" && return
  done
  return 1
}

if ! command -v node > /dev/null; then
  echo '== exported pages in a browser: skipped, node is not installed'
  exit 0
fi
if ! chromium > /dev/null && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  echo '== installing chromium'
  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium; } > /dev/null 2>&1 || true
fi
if ! browser=$(chromium); then
  echo '== exported pages in a browser: skipped, no Chromium is installed'
  exit 0
fi
cargo build --locked --quiet
echo "== exported pages in $("$browser" --version 2> /dev/null)"
exec node ci/export-browser.mjs "${CARGO_TARGET_DIR:-target}/debug/gjc-fsck" "$browser" "${CARGO_TARGET_DIR:-target}/export-browser" "$@"
