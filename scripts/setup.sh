#!/bin/sh
# Installs the Debian packages of scripts/packages.txt that are missing.
#
#   scripts/setup.sh [--check] [--tests] [--report] [--model] [--dist] [--bench] [--lint] [--package] [--docs] [--wheel] [--fuzz] [--clang] [--coverage]
#                    core packages, and those of the groups named; --tests installs check, report, model, dist and docs too
#
# If nothing is missing, it ends quickly. It installs as root or with a sudo that asks for no password; otherwise it
# prints the line to run and exits with 1. Without apt-get it prints the packages that the build needs, and CMake checks them.
set -eu
here=$(dirname "$0")
groups=core
for argument in "$@"; do
    case $argument in
    --check) groups="$groups check" ;;
    --tests) groups="$groups check report model dist test docs" ;;
    --report) groups="$groups report" ;;
    --dist) groups="$groups dist" ;;
    --model) groups="$groups model" ;;
    --bench) groups="$groups bench" ;;
    --lint) groups="$groups lint" ;;
    --package) groups="$groups package" ;;
    --docs) groups="$groups docs" ;;
    --wheel) groups="$groups wheel" ;;
    --clang) groups="$groups clang" ;;
    --coverage) groups="$groups coverage" ;;
    --fuzz) groups="$groups fuzz" ;;
    *)
        sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
        exit 2
        ;;
    esac
done

# The table's lines for the wanted groups: "package why...".
table=$(awk -v groups=" $groups " '!/^#/ && NF && index(groups, " " $2 " ") { $2 = ""; print }' "$here/packages.txt")

if ! command -v apt-get >/dev/null 2>&1; then
    echo "setup: no apt-get here, so nothing is installed or checked. The build needs these (Debian's names):" >&2
    echo "$table" | awk '{ name = $1; $1 = ""; printf "  %-20s%s\n", name, $0 }' >&2
    exit 0
fi

wanted=$(echo "$table" | awk '{ print $1 }')
# The second letter of the status is the state: i is installed, also when the package is held.
# shellcheck disable=SC2086 # package names are words
present=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' $wanted 2>/dev/null | awk '$1 ~ /^.i/ { print $2 }') || true
# Another package may replace one of ours: upstream's nodejs includes npm and conflicts with Debian's.
provided=$(dpkg-query -W -f '${db:Status-Abbrev} ${Provides}\n' 2>/dev/null |
    awk '$1 ~ /^.i/ { $1 = ""; gsub(/\([^)]*\)|,/, " "); print }' | tr -s ' ' '\n') || true
missing=
for package in $wanted; do
    printf '%s\n' "$present" "$provided" | grep -qxF "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root='sudo -n'
else
    echo "setup: Debian packages are missing and installing them needs root; run this line, then try again:" >&2
    echo "sudo apt-get update && sudo apt-get install -y --no-install-recommends$missing" >&2
    exit 1
fi

echo "setup: installing what the build (groups: $groups) needs and this machine lacks:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { # waits for a busy package manager and repeats a failed download
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" \
        >>"$log" 2>&1
}
# shellcheck disable=SC2086
if ! { apt update && apt install --no-install-recommends $missing; }; then
    tail -n 15 "$log" >&2
    echo "setup: apt-get failed; see its last lines above" >&2
    exit 1
fi
