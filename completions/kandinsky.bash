# Completion of the kandinsky command for bash.
# Made by scripts/completions.py from the program's helps; `make reference` makes it again.
#
# bash: installed where bash-completion looks; or `source` this file.
# zsh:  autoload -U +X bashcompinit && bashcompinit && source kandinsky.bash

_kandinsky() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words=
    COMPREPLY=()  # left empty where a file or a number is wanted: the shell then offers files
    # --method=kme arrives as three words: --method, =, kme.
    if [[ $current == "=" ]]; then
        current=
    elif [[ $previous == "=" && $COMP_CWORD -gt 2 ]]; then
        previous=${COMP_WORDS[COMP_CWORD-2]}
    fi
    if [[ $COMP_CWORD -eq 1 ]]; then
        words="calibrate recalibrate predict evaluate compare inspect outline measure monitor export report train infer experiment demo collect nnunet --help --version"
    fi
    case "$command $previous" in
        "calibrate --ignore") words="none" ;;
        "calibrate --device") words="auto cpu cuda" ;;
        "calibrate --intensity") words="byte percentile none" ;;
        "calibrate -m" | "calibrate --method") words="pixel image kmeans genann fcc field mask auto" ;;
        "calibrate --preset") words="none paper" ;;
        "calibrate --condition") words="class none" ;;
        "calibrate --pooling") words="groups pixels" ;;
        "calibrate --fallback") words="none image auto" ;;
        "calibrate --score") words="near lac aps raps saps margin" ;;
        "calibrate --promise") words="loo split none auto" ;;
        "calibrate --adapt") words="image none" ;;
        "calibrate --risk") words="recall precision" ;;
        "calibrate --compat") words="none released" ;;
        "calibrate --axis") words="axial coronal sagittal" ;;
        "calibrate --orient") words="canonical stored" ;;
        "calibrate --padding") words="ignore background" ;;
        "calibrate --crowd") words="object ignore" ;;
        "calibrate --overlap") words="ignore masks" ;;
        "calibrate --kmeans-clusters" | "calibrate --genann-radii" | "calibrate --fcc-curves" | "calibrate --field-bandwidths") words="auto" ;;
        "calibrate --genann-shape") words="ellipse circle" ;;
        "calibrate --genann-metric") words="euclidean sqeuclidean manhattan" ;;
        "calibrate --genann-bounds") words="auto coco decathlon" ;;
        "calibrate --genann-weights") words="none counts" ;;
        "calibrate --fcc-limit") words="rectangle circle" ;;
        "calibrate --fcc-variance") words="area mean" ;;
        "calibrate --field-fold-order") words="content contiguous" ;;
        "calibrate --field-support" | "calibrate --field-rings" | "calibrate --field-mirror") words="on off" ;;
        "calibrate --probs" | "calibrate --labels" | "calibrate --groups" | "calibrate --logits" | "calibrate --model" | "calibrate --outputs" | "calibrate --multiple" | "calibrate --batch" | "calibrate --images" | "calibrate -o" | "calibrate --output" | "calibrate --curves" | "calibrate --regions" | "calibrate --min-count" | "calibrate --raps-lambda" | "calibrate --raps-kreg" | "calibrate --saps-weight" | "calibrate --quantiles" | "calibrate --rungs" | "calibrate --split" | "calibrate --confidence" | "calibrate --seed" | "calibrate --memory" | "calibrate --weights" | "calibrate --shift-to" | "calibrate --shift-groups" | "calibrate --max-weight" | "calibrate --sketch" | "calibrate --checkpoint" | "calibrate --checkpoint-every" | "calibrate --threads" | "calibrate --grid" | "calibrate --resize" | "calibrate --group-by" | "calibrate --categories" | "calibrate --letterbox" | "calibrate --kmeans-restarts" | "calibrate --genann-population" | "calibrate --genann-generations" | "calibrate --fcc-order" | "calibrate --fcc-centre" | "calibrate --fcc-penalty" | "calibrate --fcc-angles" | "calibrate --fcc-nodes" | "calibrate --fcc-starts" | "calibrate --fcc-iterations" | "calibrate --field-folds" | "calibrate --place" | "calibrate --field-bins" | "calibrate --mask") return ;;
        "recalibrate --ignore") words="none" ;;
        "recalibrate --axis") words="axial coronal sagittal" ;;
        "recalibrate --orient") words="canonical stored" ;;
        "recalibrate --padding") words="ignore background" ;;
        "recalibrate --crowd") words="object ignore" ;;
        "recalibrate --overlap") words="ignore masks" ;;
        "recalibrate --probs" | "recalibrate --labels" | "recalibrate --groups" | "recalibrate --logits" | "recalibrate -o" | "recalibrate --output" | "recalibrate --threads" | "recalibrate --grid" | "recalibrate --resize" | "recalibrate --group-by" | "recalibrate --categories" | "recalibrate --letterbox") return ;;
        "predict --coding") words="planes bits masks" ;;
        "predict --empty") words="fill keep auto" ;;
        "predict --axis") words="axial coronal sagittal" ;;
        "predict --orient") words="canonical stored" ;;
        "predict --probs" | "predict --alpha" | "predict -o" | "predict --output" | "predict --class-names" | "predict --thresholds" | "predict --pvalues" | "predict --logits" | "predict --threads" | "predict --grid" | "predict --resize") return ;;
        "evaluate --ignore") words="none" ;;
        "evaluate --empty") words="auto fill keep" ;;
        "evaluate --axis") words="axial coronal sagittal" ;;
        "evaluate --orient") words="canonical stored" ;;
        "evaluate --padding") words="ignore background" ;;
        "evaluate --crowd") words="object ignore" ;;
        "evaluate --overlap") words="ignore masks" ;;
        "evaluate --probs" | "evaluate --labels" | "evaluate --groups" | "evaluate --logits" | "evaluate --alpha" | "evaluate --classes" | "evaluate --bootstrap" | "evaluate --seed" | "evaluate --json" | "evaluate --ce-map" | "evaluate --ece-map" | "evaluate --checkpoint" | "evaluate --checkpoint-every" | "evaluate --threads" | "evaluate --grid" | "evaluate --resize" | "evaluate --group-by" | "evaluate --categories" | "evaluate --letterbox") return ;;
        "compare --ignore") words="none" ;;
        "compare --empty") words="auto fill keep" ;;
        "compare --preset") words="none paper" ;;
        "compare --condition") words="class none" ;;
        "compare --pooling") words="groups pixels" ;;
        "compare --fallback") words="none image auto" ;;
        "compare --score") words="near lac aps raps saps margin" ;;
        "compare --promise") words="loo split none auto" ;;
        "compare --adapt") words="image none" ;;
        "compare --risk") words="recall precision" ;;
        "compare --compat") words="none released" ;;
        "compare --axis") words="axial coronal sagittal" ;;
        "compare --orient") words="canonical stored" ;;
        "compare --padding") words="ignore background" ;;
        "compare --crowd") words="object ignore" ;;
        "compare --overlap") words="ignore masks" ;;
        "compare --kmeans-clusters" | "compare --genann-radii" | "compare --fcc-curves" | "compare --field-bandwidths") words="auto" ;;
        "compare --genann-shape") words="ellipse circle" ;;
        "compare --genann-metric") words="euclidean sqeuclidean manhattan" ;;
        "compare --genann-bounds") words="auto coco decathlon" ;;
        "compare --genann-weights") words="none counts" ;;
        "compare --fcc-limit") words="rectangle circle" ;;
        "compare --fcc-variance") words="area mean" ;;
        "compare --field-fold-order") words="content contiguous" ;;
        "compare --field-support" | "compare --field-rings" | "compare --field-mirror") words="on off" ;;
        "compare --cal-probs" | "compare --cal-labels" | "compare --cal-groups" | "compare --test-probs" | "compare --test-labels" | "compare --test-groups" | "compare --logits" | "compare --methods" | "compare --classes" | "compare --alpha" | "compare --sample" | "compare --draws" | "compare --bootstrap" | "compare --json" | "compare --report" | "compare --figures" | "compare --class-names" | "compare --title" | "compare --photos" | "compare --min-count" | "compare --raps-lambda" | "compare --raps-kreg" | "compare --saps-weight" | "compare --quantiles" | "compare --rungs" | "compare --split" | "compare --confidence" | "compare --seed" | "compare --memory" | "compare --checkpoint" | "compare --checkpoint-every" | "compare --threads" | "compare --grid" | "compare --resize" | "compare --group-by" | "compare --categories" | "compare --letterbox" | "compare --kmeans-restarts" | "compare --genann-population" | "compare --genann-generations" | "compare --fcc-order" | "compare --fcc-centre" | "compare --fcc-penalty" | "compare --fcc-angles" | "compare --fcc-nodes" | "compare --fcc-starts" | "compare --fcc-iterations" | "compare --field-folds" | "compare --place" | "compare --field-bins" | "compare --mask") return ;;
        "inspect --alpha") return ;;
        "outline --unit") words="group object" ;;
        "outline --connectivity") words="corners faces" ;;
        "outline --sides") words="both outer inner" ;;
        "outline --score") words="distance relative doubt probability field auto" ;;
        "outline --ignore") words="none" ;;
        "outline --alpha" | "outline --confidence" | "outline --share" | "outline --classes" | "outline --seed" | "outline --small" | "outline --calibrator" | "outline -o" | "outline --output" | "outline --contours" | "outline --json" | "outline --threads" | "outline --cal-probs" | "outline --cal-masks" | "outline --cal-labels" | "outline --cal-groups" | "outline --probs" | "outline --masks" | "outline --labels" | "outline --groups" | "outline --rule" | "outline --save" | "outline --spacing" | "outline --logits" | "outline --group-by") return ;;
        "measure --by") words="quantiles predicted soft relative auto" ;;
        "measure --ignore") words="none" ;;
        "measure --alpha" | "measure --confidence" | "measure --classes" | "measure --seed" | "measure --csv" | "measure --json" | "measure --threads" | "measure --cal-probs" | "measure --cal-masks" | "measure --cal-labels" | "measure --cal-groups" | "measure --probs" | "measure --masks" | "measure --labels" | "measure --groups" | "measure --rule" | "measure --save" | "measure --spacing" | "measure --logits" | "measure --group-by") return ;;
        "monitor --ignore") words="none" ;;
        "monitor --axis") words="axial coronal sagittal" ;;
        "monitor --orient") words="canonical stored" ;;
        "monitor --padding") words="ignore background" ;;
        "monitor --crowd") words="object ignore" ;;
        "monitor --overlap") words="ignore masks" ;;
        "monitor --probs" | "monitor --labels" | "monitor --groups" | "monitor --logits" | "monitor --state" | "monitor --delta" | "monitor --alpha" | "monitor --json" | "monitor --report" | "monitor --prometheus" | "monitor --change-map" | "monitor --class-names" | "monitor --threads" | "monitor --grid" | "monitor --resize" | "monitor --group-by" | "monitor --categories" | "monitor --letterbox") return ;;
        "export --empty") words="fill keep auto" ;;
        "export --alpha" | "export -o" | "export --output" | "export --onto" | "export --output-name" | "export --logits" | "export --threads") return ;;
        "report --ignore") words="none" ;;
        "report --axis") words="axial coronal sagittal" ;;
        "report --orient") words="canonical stored" ;;
        "report --padding") words="ignore background" ;;
        "report --crowd") words="object ignore" ;;
        "report --overlap") words="ignore masks" ;;
        "report --probs" | "report --labels" | "report --groups" | "report --logits" | "report --cal-probs" | "report --cal-labels" | "report --cal-groups" | "report -o" | "report --output" | "report --outline" | "report --figures" | "report --class-names" | "report --title" | "report --photos" | "report --alpha" | "report --classes" | "report --threads" | "report --grid" | "report --resize" | "report --group-by" | "report --categories" | "report --letterbox") return ;;
        "train --intensity") words="byte percentile none" ;;
        "train --ignore") words="none" ;;
        "train --optimizer") words="adamw adam" ;;
        "train --device") words="auto cpu cuda" ;;
        "train --axis") words="axial coronal sagittal" ;;
        "train --orient") words="canonical stored" ;;
        "train --padding") words="ignore background" ;;
        "train --crowd") words="object ignore" ;;
        "train --overlap") words="ignore masks" ;;
        "train --images" | "train --labels" | "train --groups" | "train --val-images" | "train --val-labels" | "train -o" | "train --output" | "train --log" | "train --classes" | "train --width" | "train --depth" | "train --epochs" | "train --batch" | "train --rate" | "train --last-rate" | "train --warm-up" | "train --cycle" | "train --growth" | "train --share" | "train --anneal" | "train --decay" | "train --checkpoint" | "train --checkpoint-every" | "train --seed" | "train --threads" | "train --grid" | "train --resize" | "train --group-by" | "train --categories" | "train --letterbox") return ;;
        "infer --device") words="auto cpu cuda" ;;
        "infer --intensity") words="byte percentile none" ;;
        "infer --dtype") words="float16 float32" ;;
        "infer --axis") words="axial coronal sagittal" ;;
        "infer --orient") words="canonical stored" ;;
        "infer --model" | "infer --outputs" | "infer --multiple" | "infer --batch" | "infer --images" | "infer --groups" | "infer -o" | "infer --output" | "infer --threads" | "infer --grid" | "infer --resize") return ;;
        "experiment --device") words="auto cpu cuda" ;;
        "experiment --data" | "experiment -o" | "experiment --output" | "experiment --model" | "experiment --epochs" | "experiment --batch" | "experiment --threads") return ;;
        "demo --preset") words="photo medical" ;;
        "demo -o" | "demo --output" | "demo --images" | "demo --test-images" | "demo --size" | "demo --seed" | "demo --report" | "demo --figures" | "demo --class-names" | "demo --title" | "demo --threads") return ;;
        "collect --ignore") words="none" ;;
        "collect --axis") words="axial coronal sagittal" ;;
        "collect --orient") words="canonical stored" ;;
        "collect --padding") words="ignore background" ;;
        "collect --crowd") words="object ignore" ;;
        "collect --overlap") words="ignore masks" ;;
        "collect --probs" | "collect --labels" | "collect -o" | "collect --output" | "collect --logits" | "collect --threads" | "collect --grid" | "collect --resize" | "collect --group-by" | "collect --categories" | "collect --letterbox") return ;;
        "nnunet --coding") words="planes bits masks" ;;
        "nnunet --empty") words="auto fill keep" ;;
        "nnunet --ignore") words="none" ;;
        "nnunet -m" | "nnunet --method") words="pixel image kmeans genann fcc field mask auto" ;;
        "nnunet --preset") words="none paper" ;;
        "nnunet --condition") words="class none" ;;
        "nnunet --pooling") words="groups pixels" ;;
        "nnunet --fallback") words="none image auto" ;;
        "nnunet --score") words="near lac aps raps saps margin" ;;
        "nnunet --promise") words="loo split none auto" ;;
        "nnunet --adapt") words="image none" ;;
        "nnunet --risk") words="recall precision" ;;
        "nnunet --compat") words="none released" ;;
        "nnunet --axis") words="axial coronal sagittal" ;;
        "nnunet --orient") words="canonical stored" ;;
        "nnunet --padding") words="ignore background" ;;
        "nnunet --kmeans-clusters" | "nnunet --genann-radii" | "nnunet --fcc-curves" | "nnunet --field-bandwidths") words="auto" ;;
        "nnunet --genann-shape") words="ellipse circle" ;;
        "nnunet --genann-metric") words="euclidean sqeuclidean manhattan" ;;
        "nnunet --genann-bounds") words="auto coco decathlon" ;;
        "nnunet --genann-weights") words="none counts" ;;
        "nnunet --fcc-limit") words="rectangle circle" ;;
        "nnunet --fcc-variance") words="area mean" ;;
        "nnunet --field-fold-order") words="content contiguous" ;;
        "nnunet --field-support" | "nnunet --field-rings" | "nnunet --field-mirror") words="on off" ;;
        "nnunet --labels" | "nnunet --folds" | "nnunet -o" | "nnunet --output" | "nnunet --predict" | "nnunet --sets" | "nnunet --alpha" | "nnunet --min-count" | "nnunet --raps-lambda" | "nnunet --raps-kreg" | "nnunet --saps-weight" | "nnunet --quantiles" | "nnunet --rungs" | "nnunet --split" | "nnunet --confidence" | "nnunet --seed" | "nnunet --memory" | "nnunet --threads" | "nnunet --grid" | "nnunet --resize" | "nnunet --group-by" | "nnunet --kmeans-restarts" | "nnunet --genann-population" | "nnunet --genann-generations" | "nnunet --fcc-order" | "nnunet --fcc-centre" | "nnunet --fcc-penalty" | "nnunet --fcc-angles" | "nnunet --fcc-nodes" | "nnunet --fcc-starts" | "nnunet --fcc-iterations" | "nnunet --field-folds" | "nnunet --place" | "nnunet --field-bins" | "nnunet --mask") return ;;
    esac
    if [[ -z $words && $current == -* ]]; then
        case $command in
            calibrate) words="-h --help --probs --labels --groups --ignore --logits --model --outputs --multiple --batch --device --mixed --images --intensity -m --method -o --output --curves --regions --preset --condition --pooling --fallback --min-count --score --randomized --raps-lambda --raps-kreg --saps-weight --quantiles --rungs --promise --adapt --split --confidence --risk --compat --seed --memory --weights --shift-to --shift-groups --max-weight --sketch --checkpoint --checkpoint-every --threads -q --quiet --axis --orient --grid --resize --skip-bad --padding --only-annotated --group-by --class-files --categories --crowd --overlap --letterbox --kmeans-clusters --kmeans-restarts --genann-shape --genann-radii --genann-metric --genann-bounds --genann-population --genann-generations --genann-weights --fcc-curves --fcc-order --fcc-limit --fcc-centre --fcc-variance --fcc-penalty --fcc-angles --fcc-nodes --fcc-starts --fcc-iterations --field-folds --field-fold-order --place --field-support --field-rings --field-mirror --field-bandwidths --field-bins --mask" ;;
            recalibrate) words="-h --help --probs --labels --groups --ignore --logits -o --output --threads -q --quiet --axis --orient --grid --resize --skip-bad --padding --only-annotated --group-by --class-files --categories --crowd --overlap --letterbox" ;;
            predict) words="-h --help --probs --alpha -o --output --coding --class-names --packed --empty --no-empty --thresholds --pvalues --logits --threads -q --quiet --axis --orient --grid --resize --skip-bad --class-files" ;;
            evaluate) words="-h --help --probs --labels --groups --ignore --logits --alpha --classes --empty --no-empty --bootstrap --seed --more --json --ce-map --ece-map --checkpoint --checkpoint-every --threads -q --quiet --axis --orient --grid --resize --skip-bad --padding --only-annotated --group-by --class-files --categories --crowd --overlap --letterbox" ;;
            compare) words="-h --help --cal-probs --cal-labels --cal-groups --test-probs --test-labels --test-groups --ignore --logits --methods --classes --alpha --sample --draws --empty --no-empty --bootstrap --more --json --map --report --figures --class-names --title --photos --preset --condition --pooling --fallback --min-count --score --randomized --raps-lambda --raps-kreg --saps-weight --quantiles --rungs --promise --adapt --split --confidence --risk --compat --seed --memory --checkpoint --checkpoint-every --threads -q --quiet --axis --orient --grid --resize --skip-bad --padding --only-annotated --group-by --class-files --categories --crowd --overlap --letterbox --kmeans-clusters --kmeans-restarts --genann-shape --genann-radii --genann-metric --genann-bounds --genann-population --genann-generations --genann-weights --fcc-curves --fcc-order --fcc-limit --fcc-centre --fcc-variance --fcc-penalty --fcc-angles --fcc-nodes --fcc-starts --fcc-iterations --field-folds --field-fold-order --place --field-support --field-rings --field-mirror --field-bandwidths --field-bins --mask" ;;
            inspect) words="-h --help --alpha --json" ;;
            outline) words="-h --help --alpha --confidence --unit --share --connectivity --sides --score --classes --seed --small --calibrator -o --output --contours --json --threads -q --quiet --cal-probs --cal-masks --cal-labels --cal-groups --probs --masks --labels --groups --rule --save --volumes --spacing --ignore --logits --class-files --group-by" ;;
            measure) words="-h --help --alpha --confidence --by --classes --seed --csv --json --threads -q --quiet --cal-probs --cal-masks --cal-labels --cal-groups --probs --masks --labels --groups --rule --save --volumes --spacing --ignore --logits --class-files --group-by" ;;
            monitor) words="-h --help --probs --labels --groups --ignore --logits --state --delta --alpha --complete --skip-seen --fail-on-alarm --json --report --prometheus --change-map --class-names --threads -q --quiet --axis --orient --grid --resize --skip-bad --padding --only-annotated --group-by --class-files --categories --crowd --overlap --letterbox" ;;
            export) words="-h --help --alpha -o --output --onto --output-name --logits --foreground --empty --no-empty --threads -q --quiet" ;;
            report) words="-h --help --probs --labels --groups --ignore --logits --cal-probs --cal-labels --cal-groups -o --output --outline --figures --class-names --title --photos --alpha --classes --threads -q --quiet --axis --orient --grid --resize --skip-bad --padding --only-annotated --group-by --class-files --categories --crowd --overlap --letterbox" ;;
            train) words="-h --help --images --intensity --labels --groups --ignore --val-images --val-labels -o --output --log --classes --width --depth --epochs --batch --rate --last-rate --warm-up --cycle --growth --share --anneal --optimizer --decay --no-augment --checkpoint --checkpoint-every --fresh --seed --device --mixed --threads -q --quiet --axis --orient --grid --resize --padding --only-annotated --group-by --categories --crowd --overlap --letterbox" ;;
            infer) words="-h --help --model --outputs --multiple --batch --device --mixed --images --intensity --groups -o --output --dtype --threads -q --quiet --axis --orient --grid --resize" ;;
            experiment) words="-h --help --data -o --output --model --epochs --batch --device --mixed --threads -q --quiet" ;;
            demo) words="-h --help -o --output --preset --images --test-images --size --seed --report --figures --class-names --title --threads -q --quiet" ;;
            collect) words="-h --help --probs --labels -o --output --ignore --logits --threads -q --quiet --axis --orient --grid --resize --skip-bad --padding --only-annotated --group-by --class-files --categories --crowd --overlap --letterbox" ;;
            nnunet) words="-h --help --labels --folds -o --output --predict --sets --alpha --coding --empty --no-empty --ignore -m --method --preset --condition --pooling --fallback --min-count --score --randomized --raps-lambda --raps-kreg --saps-weight --quantiles --rungs --promise --adapt --split --confidence --risk --compat --seed --memory --threads -q --quiet --axis --orient --grid --resize --skip-bad --padding --only-annotated --group-by --kmeans-clusters --kmeans-restarts --genann-shape --genann-radii --genann-metric --genann-bounds --genann-population --genann-generations --genann-weights --fcc-curves --fcc-order --fcc-limit --fcc-centre --fcc-variance --fcc-penalty --fcc-angles --fcc-nodes --fcc-starts --fcc-iterations --field-folds --field-fold-order --place --field-support --field-rings --field-mirror --field-bandwidths --field-bins --mask" ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _kandinsky kandinsky
