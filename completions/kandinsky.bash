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
        words="calibrate predict evaluate compare inspect report demo --help --version"
    fi
    case "$command $previous" in
        "calibrate --ignore") words="none" ;;
        "calibrate --logits") words="none sigmoid softmax" ;;
        "calibrate -m" | "calibrate --method") words="pixel image kmeans genann fcc field mask auto" ;;
        "calibrate --preset") words="none paper" ;;
        "calibrate --condition") words="class none" ;;
        "calibrate --pooling") words="pixels groups" ;;
        "calibrate --fallback") words="none image" ;;
        "calibrate --compat") words="none released" ;;
        "calibrate --kmeans-clusters" | "calibrate --genann-radii" | "calibrate --fcc-curves" | "calibrate --field-bandwidths") words="auto" ;;
        "calibrate --genann-metric") words="euclidean sqeuclidean manhattan" ;;
        "calibrate --genann-bounds") words="auto coco decathlon" ;;
        "calibrate --genann-weights") words="none counts" ;;
        "calibrate --fcc-limit") words="rectangle circle" ;;
        "calibrate --fcc-variance") words="area mean" ;;
        "calibrate --field-fold-order") words="content contiguous" ;;
        "calibrate --field-rings" | "calibrate --field-mirror") words="on off" ;;
        "calibrate --probs" | "calibrate --labels" | "calibrate --groups" | "calibrate -o" | "calibrate --output" | "calibrate --curves" | "calibrate --regions" | "calibrate --min-count" | "calibrate --score" | "calibrate --quantiles" | "calibrate --rungs" | "calibrate --split" | "calibrate --seed" | "calibrate --memory" | "calibrate --threads" | "calibrate --kmeans-restarts" | "calibrate --genann-shape" | "calibrate --genann-population" | "calibrate --genann-generations" | "calibrate --fcc-order" | "calibrate --fcc-centre" | "calibrate --fcc-penalty" | "calibrate --fcc-angles" | "calibrate --fcc-nodes" | "calibrate --fcc-starts" | "calibrate --fcc-iterations" | "calibrate --field-folds" | "calibrate --field-bins" | "calibrate --mask") return ;;
        "predict --logits") words="none sigmoid softmax" ;;
        "predict --probs" | "predict --alpha" | "predict -o" | "predict --output" | "predict --thresholds" | "predict --pvalues" | "predict --threads") return ;;
        "evaluate --ignore") words="none" ;;
        "evaluate --logits") words="none sigmoid softmax" ;;
        "evaluate --probs" | "evaluate --labels" | "evaluate --groups" | "evaluate --alpha" | "evaluate --classes" | "evaluate --json" | "evaluate --ce-map" | "evaluate --ece-map" | "evaluate --threads") return ;;
        "compare --ignore") words="none" ;;
        "compare --logits") words="none sigmoid softmax" ;;
        "compare --methods" | "compare --kmeans-clusters" | "compare --genann-radii" | "compare --fcc-curves" | "compare --field-bandwidths") words="auto" ;;
        "compare --preset") words="none paper" ;;
        "compare --condition") words="class none" ;;
        "compare --pooling") words="pixels groups" ;;
        "compare --fallback") words="none image" ;;
        "compare --compat") words="none released" ;;
        "compare --genann-metric") words="euclidean sqeuclidean manhattan" ;;
        "compare --genann-bounds") words="auto coco decathlon" ;;
        "compare --genann-weights") words="none counts" ;;
        "compare --fcc-limit") words="rectangle circle" ;;
        "compare --fcc-variance") words="area mean" ;;
        "compare --field-fold-order") words="content contiguous" ;;
        "compare --field-rings" | "compare --field-mirror") words="on off" ;;
        "compare --cal-probs" | "compare --cal-labels" | "compare --cal-groups" | "compare --test-probs" | "compare --test-labels" | "compare --test-groups" | "compare --classes" | "compare --alpha" | "compare --sample" | "compare --draws" | "compare --json" | "compare --report" | "compare --figures" | "compare --class-names" | "compare --title" | "compare --min-count" | "compare --score" | "compare --quantiles" | "compare --rungs" | "compare --split" | "compare --seed" | "compare --memory" | "compare --threads" | "compare --kmeans-restarts" | "compare --genann-shape" | "compare --genann-population" | "compare --genann-generations" | "compare --fcc-order" | "compare --fcc-centre" | "compare --fcc-penalty" | "compare --fcc-angles" | "compare --fcc-nodes" | "compare --fcc-starts" | "compare --fcc-iterations" | "compare --field-folds" | "compare --field-bins" | "compare --mask") return ;;
        "inspect --alpha") return ;;
        "report --ignore") words="none" ;;
        "report --logits") words="none sigmoid softmax" ;;
        "report --probs" | "report --labels" | "report --groups" | "report -o" | "report --output" | "report --figures" | "report --class-names" | "report --title" | "report --alpha" | "report --classes" | "report --threads") return ;;
        "demo --preset") words="photo medical" ;;
        "demo -o" | "demo --output" | "demo --images" | "demo --test-images" | "demo --size" | "demo --seed" | "demo --report" | "demo --figures" | "demo --class-names" | "demo --title" | "demo --threads") return ;;
    esac
    if [[ -z $words && $current == -* ]]; then
        case $command in
            calibrate) words="-h --help --probs --labels --groups --ignore --logits -m --method -o --output --curves --regions --preset --condition --pooling --fallback --min-count --score --quantiles --rungs --split --compat --seed --memory --threads -q --quiet --kmeans-clusters --kmeans-restarts --genann-shape --genann-radii --genann-metric --genann-bounds --genann-population --genann-generations --genann-weights --fcc-curves --fcc-order --fcc-limit --fcc-centre --fcc-variance --fcc-penalty --fcc-angles --fcc-nodes --fcc-starts --fcc-iterations --field-folds --field-fold-order --field-rings --field-mirror --field-bandwidths --field-bins --mask" ;;
            predict) words="-h --help --probs --alpha -o --output --packed --thresholds --pvalues --logits --threads -q --quiet" ;;
            evaluate) words="-h --help --probs --labels --groups --ignore --logits --alpha --classes --json --ce-map --ece-map --threads -q --quiet" ;;
            compare) words="-h --help --cal-probs --cal-labels --cal-groups --test-probs --test-labels --test-groups --ignore --logits --methods --classes --alpha --sample --draws --json --map --report --figures --class-names --title --preset --condition --pooling --fallback --min-count --score --quantiles --rungs --split --compat --seed --memory --threads -q --quiet --kmeans-clusters --kmeans-restarts --genann-shape --genann-radii --genann-metric --genann-bounds --genann-population --genann-generations --genann-weights --fcc-curves --fcc-order --fcc-limit --fcc-centre --fcc-variance --fcc-penalty --fcc-angles --fcc-nodes --fcc-starts --fcc-iterations --field-folds --field-fold-order --field-rings --field-mirror --field-bandwidths --field-bins --mask" ;;
            inspect) words="-h --help --alpha --json" ;;
            report) words="-h --help --probs --labels --groups --ignore --logits -o --output --figures --class-names --title --alpha --classes --threads -q --quiet" ;;
            demo) words="-h --help -o --output --preset --images --test-images --size --seed --report --figures --class-names --title --threads -q --quiet" ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _kandinsky kandinsky
