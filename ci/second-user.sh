#!/usr/bin/env bash
# Runs the tests about trees, modes and owners once more as an ordinary user who owns what they build. What reads everything
# as root is refused there, and the other way round. Only root can become somebody else: without root, nothing is left to do,
# because the tests ran as an ordinary user already.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(id -u)" != 0 ]; then
  echo 'second user: nothing to do, the tests ran as an ordinary user'
  exit 0
fi
if ! command -v setpriv > /dev/null; then
  echo 'second user: skipped, this system has no setpriv (util-linux)'
  exit 0
fi

user=65534
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
chmod 0755 "$place"
# The checkout may lie where only root may read.
mkdir -p "$place/bin" "$place/vectors"
cp -r tests/vectors/trees "$place/vectors/"
mkdir -m 0700 "$place/home"
chown "$user:$user" "$place/home"
as_user() {
  (cd "$place/home" && HOME=$place/home TMPDIR=$place/home GJC_FSCK_VECTORS=$place/vectors \
    setpriv --reuid="$user" --regid="$user" --clear-groups "$@")
}

# `Executable tests/races.rs (target/debug/deps/races-0123456789abcdef)`, `Executable unittests src/lib.rs (…)`
cargo test --locked --no-run 2>&1 | sed -n 's/^ *Executable \(unittests \)\{0,1\}\(.*\) (\(.*\))$/\2 \3/p' > "$place/executables"
run() {
  local executable
  executable=$(sed -n "s|^$1 ||p" "$place/executables")
  cp "$executable" "$place/bin/"
  echo "== $1 as user $user"
  as_user "$place/bin/${executable##*/}" --nocapture "${@:2}"
}
run tests/agent_directory.rs
run tests/races.rs
run tests/vectors.rs trees point_
# The unit tests with a real file system; the others do not know who runs them.
run src/lib.rs fsys:: agent:: check::run::
