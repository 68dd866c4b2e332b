#!/usr/bin/env bash
# Prints the tables of docs/results.md: every method on real model outputs.
#
#   scripts/real_data.sh FOLDER [EXTRA OPTIONS OF compare]      e.g.  scripts/real_data.sh data --methods pixel,kmeans
#
# FOLDER holds the arrays NAME_SPLIT_probs.npy, _labels.npy and, for hippocampus, _groups.npy, with NAME_SPLIT one of
# pets_cal, pets_test, hippocampus_cal (77 patients), hippocampus_cal27, hippocampus_test, camvid_cal, camvid_test.
# KANDINSKY: the program (default: build/bin/kandinsky beside this script).
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,8p' "$0" | cut -c3-; exit 2; }
folder=$1; shift
program=${KANDINSKY:-$(dirname "$0")/../build/bin/kandinsky}

compare() {  # CALIBRATION TEST OPTIONS...
  local cal=$1 test=$2; shift 2
  local groups=()
  if [ -e "$folder/${cal}_groups.npy" ]; then groups=(--cal-groups "${cal}_groups.npy"); fi
  local words=(compare --cal-probs "${cal}_probs.npy" --cal-labels "${cal}_labels.npy" "${groups[@]}"
               --test-probs "${test}_probs.npy" --test-labels "${test}_labels.npy" "$@")
  printf '$ kandinsky %s\n\n' "${words[*]}"
  (cd "$folder" && "$program" "${words[@]}" --quiet)
  echo
}
program=$(readlink -f "$program")

compare pets_cal pets_test --classes 1 --sample 100 --draws 5 "$@"
compare pets_cal pets_test --classes 1 "$@"
compare hippocampus_cal hippocampus_test --classes 1,2 "$@"
compare hippocampus_cal27 hippocampus_test --classes 1,2 "$@"
compare hippocampus_cal hippocampus_test --classes 1,2 --sample 27 --draws 5 "$@"
compare camvid_cal camvid_test --classes 0,1,3,4,5,8 "$@"
