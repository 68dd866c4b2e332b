#!/bin/bash
# A real nnU-Net, trained briefly, from the Decathlon's hippocampus volumes to prediction sets:
#   [DEVICE=cuda] experiments/nnunet_hippocampus.sh DECATHLON WORK [KANDINSKY]
# DECATHLON: Task 04 (imagesTr, labelsTr). WORK: folder for the data in nnU-Net's layout and the results. KANDINSKY: the
# command; without it only nnU-Net runs. nnunetv2 (tested: 2.8.1) must be on the path. Trains five folds of 60 cases in
# parallel, 15 short epochs each; 40 cases are for the test. docs/deploy.md has the results.
set -euo pipefail
data=$1 work=$2 kandinsky=${3:-} device=${DEVICE:-cuda}
export nnUNet_raw=$work/nnUNet_raw nnUNet_preprocessed=$work/nnUNet_preprocessed nnUNet_results=$work/nnUNet_results
export nnUNet_n_proc_DA=${nnUNet_n_proc_DA:-3} nnUNet_compile=f OMP_NUM_THREADS=1
name=Dataset004_Hippocampus

python - "$data" "$nnUNet_raw/$name" <<'PYTHON'
import json, shutil, sys
from pathlib import Path
data, out = map(Path, sys.argv[1:])
names = sorted(p.name[:-7] for p in (data / "labelsTr").glob("[!.]*.nii.gz"))
for part, cases in {"Tr": names[:60], "Ts": names[60:100]}.items():
    for kind, ending in {"images": "_0000", "labels": ""}.items():
        (out / (kind + part)).mkdir(parents=True, exist_ok=True)
        for case in cases:
            shutil.copyfile(data / f"{kind}Tr" / f"{case}.nii.gz", out / (kind + part) / f"{case}{ending}.nii.gz")
(out / "dataset.json").write_text(json.dumps({"channel_names": {"0": "MRI"}, "numTraining": 60, "file_ending": ".nii.gz",
                                              "labels": {"background": 0, "Anterior": 1, "Posterior": 2}}))
PYTHON
nnUNetv2_plan_and_preprocess -d 4 -c 3d_fullres -np 4 -npfp 4

# A trainer with short epochs, in the package where nnU-Net searches for trainers.
cat > "$(python -c 'import nnunetv2; print(nnunetv2.__path__[0])')/training/nnUNetTrainer/variants/nnUNetTrainerShort.py" <<'PYTHON'
import torch
from nnunetv2.training.nnUNetTrainer.nnUNetTrainer import nnUNetTrainer


class nnUNetTrainerShort(nnUNetTrainer):
    def __init__(self, plans, configuration, fold, dataset_json, device=torch.device("cuda")):
        super().__init__(plans, configuration, fold, dataset_json, device)
        self.num_epochs, self.num_iterations_per_epoch, self.num_val_iterations_per_epoch = 15, 60, 5
PYTHON
for fold in 0 1 2 3 4; do
    nnUNetv2_train 4 3d_fullres $fold -tr nnUNetTrainerShort -device "$device" --npz > "$work/fold_$fold.log" 2>&1 &
done
wait
nnUNetv2_predict -i "$nnUNet_raw/$name/imagesTs" -o "$work/test" -d 4 -c 3d_fullres -tr nnUNetTrainerShort -device "$device" \
    --save_probabilities -npp 2 -nps 2
if [ -z "$kandinsky" ]; then exit; fi

# The rest runs Kandinsky.
result=$nnUNet_results/$name/nnUNetTrainerShort__nnUNetPlans__3d_fullres
"$kandinsky" nnunet "$result" --predict "$work/test" --alpha 0.1
"$kandinsky" evaluate "$result/kandinsky.kcal" --probs "$work/test" --labels "$nnUNet_raw/$name/labelsTs" --alpha 0.1 --more
