#!/usr/bin/env bash
# The gate of a CI job: one run, a report in every form, the exit status of the check.
#
#   ci/gate.sh [ARGUMENT…]          arguments of `gjc-fsck check`: paths, --baseline FILE, --fail-on LEVEL …
#
#   GJC_FSCK                the program (default: gjc-fsck)
#   GJC_FSCK_REPORTS        where the reports go (default: gjc-fsck-reports); not into what is checked
#   GJC_FSCK_INCONCLUSIVE   `pass`: a reached limit or a moving file alone (exit status 2) does not fail the job
#
# Under GitHub Actions the log holds annotations, and the summary of the job gets the Markdown form.
set -uo pipefail

fsck=${GJC_FSCK:-gjc-fsck}
reports=${GJC_FSCK_REPORTS:-gjc-fsck-reports}
made=
[ -d "$reports" ] || made=yes
mkdir -p -- "$reports" || exit 8

format=concise
[ "${GITHUB_ACTIONS:-}" = true ] && format=github

"$fsck" check --format "$format" \
  --output "sarif=$reports/gjc-fsck.sarif" \
  --output "junit=$reports/gjc-fsck.junit.xml" \
  --output "markdown=$reports/gjc-fsck.md" \
  --output "json=$reports/gjc-fsck.json" \
  "$@"
status=$?

# A folder that stays empty was not wanted there.
if [ -n "$made" ] && rmdir -- "$reports" 2> /dev/null; then
  echo "gate.sh: no report was written; GJC_FSCK_REPORTS names a folder for them, outside of what is checked" >&2
fi
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -f "$reports/gjc-fsck.md" ]; then
  cat -- "$reports/gjc-fsck.md" >> "$GITHUB_STEP_SUMMARY"
fi
if [ "$status" -eq 2 ] && [ "${GJC_FSCK_INCONCLUSIVE:-}" = pass ]; then
  status=0
fi
exit "$status"
