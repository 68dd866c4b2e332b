#!/bin/sh
# Runs fuzz targets one after the other and prints a table: fuzz/run.sh BUILD RUNS SECONDS [TARGET...]
#
# Each target starts from fuzz/corpus/TARGET and stores new inputs in BUILD/corpus/TARGET. A finding stops that target;
# its input is stored in BUILD/findings/TARGET. The exit status is 1 if there was a finding.
set -u
[ $# -ge 3 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
build=$1 runs=$2 seconds=$3
shift 3
[ $# -gt 0 ] || set -- $(ls "$here/corpus")
status=0
printf '%-10s%12s%10s%12s  %s\n' target executions seconds coverage result
for target in "$@"; do
    if [ ! -x "$build/bin/fuzz_$target" ]; then
        printf '%-10s not built: this build lacks the format\n' "$target"
        continue
    fi
    learned=$build/corpus/$target findings=$build/findings/$target log=$build/fuzz_$target.log
    mkdir -p "$learned" "$findings"
    begin=$(date +%s) result=clean
    "$build/bin/fuzz_$target" -runs="$runs" -max_total_time="$seconds" -max_len=16384 -rss_limit_mb=3072 -timeout=120 \
        -print_final_stats=1 -artifact_prefix="$findings/" "$learned" "$here/corpus/$target" >"$log" 2>&1 ||
        { result="FOUND, see $log"; status=1; }
    executions=$(sed -n 's/^stat::number_of_executed_units: //p' "$log")
    coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    printf '%-10s%12s%10s%12s  %s\n' "$target" "${executions:-?}" $(($(date +%s) - begin)) "${coverage:-?}" "$result"
done
exit $status
