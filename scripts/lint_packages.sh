#!/bin/sh
# Checks Debian packages with lintian; fails on lintian's errors.
#
#   scripts/lint_packages.sh FILE.deb...
#
# Ignored, because these packages are for download and not part of Debian:
#   the changelog is CHANGELOG.md and not Debian's; the maintainer is a project without an address;
#   packages by cpack call ldconfig for plug-ins, which does no harm.
set -eu
[ $# -ge 1 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
exec lintian --allow-root --fail-on error --suppress-tags \
    no-changelog,malformed-contact,maintscript-calls-ldconfig \
    "$@"
