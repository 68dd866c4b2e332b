#!/bin/bash
# A real change of the network: the calibrator is made from one network's outputs, and the stream has another network's.
#   experiments/second_network.sh DECATHLON SPLIT DATA WORK KANDINSKY
# DECATHLON: Task 04 (imagesTr, labelsTr). SPLIT: a JSON with the names of `train` and `test` volumes. DATA: the first
# network's outputs, hippocampus_{cal,test}_{probs,labels,groups}.npy. WORK: folder for all results. KANDINSKY: the
# command with its torch plug-in. The second network has 16 channels and 3 levels and learns for 12 epochs, about 4
# minutes of one core. docs/monitoring.md has the table.
set -euo pipefail
decathlon=$1 split=$2 data=$3 work=$4 kandinsky=$5
here=$(dirname "$0")
mkdir -p "$work"
python3 "$here/second_network.py" cut "$decathlon" "$split" "$data" "$work"
"$kandinsky" train --images "$work/train_images.npy" --labels "$work/train_labels.npy" --intensity none --width 16 --depth 3 \
    --epochs 12 --batch 16 --rate 1e-3 --anneal 0.3 --threads 1 -q -o "$work/second.pt"
"$kandinsky" infer --model "$work/second.pt" --images "$work/test_images.npy" --intensity none --dtype float32 -q \
    -o "$work/hippocampus_other_probs.npy"
python3 "$here/second_network.py" check "$data" "$work"
for file in "$data"/hippocampus_{cal,test}_{probs,labels,groups}.npy; do ln -sf "$file" "$work"; done
"$kandinsky" calibrate --probs "$data/hippocampus_cal_probs.npy" --labels "$data/hippocampus_cal_labels.npy" \
    --groups "$data/hippocampus_cal_groups.npy" -q -o "$work/first.kcal"
python3 "$here/../bench/monitor.py" labels "$kandinsky" "$work/first.kcal" "$work" hippocampus
"$kandinsky" evaluate "$work/first.kcal" --probs "$work/hippocampus_other_probs.npy" \
    --labels "$data/hippocampus_test_labels.npy" --groups "$data/hippocampus_test_groups.npy" --alpha 0.1
