# usage: verify-pipelines.sh MODEL.mlir TEMPORARY DP:STAGE:SHARDS...
# Proves a model after each phase (Stage, DataParallel, Schedule, Memory) against its unpartitioned self in the
# reference interpreter: every schedule x pp 2 to 4 that it has units for x 1 to 5 micro-batches, for each of the given data-
# parallel layouts; with PAIRS a third of those with 1, 3 and 5 micro-batches, in which every two of schedule, pp and micro-batches meet. INSERT and ASSIGN are
# further options of the passes that insert actions and assign buckets.
# Prints a line per layout that differs and, at last, how many were proved.
model=$1 reference=$2.reference.mlir output=$2.output
shift 2
xlc-opt "$model" --xlc-differentiate --cse --xlc-append-update --xlc-verify-differentiated -o "$reference" || exit 1
verify=--xlc-verify-against=reference=$reference
proved=0
prove() { # schedule pp chunks micro-batches split layout
  IFS=: read -r dp stage shards <<<"$6"
  xlc-opt "$reference" "--xlc-test-set-mesh=pp=$2 dp=$dp shards=$shards" --xlc-rematerialize-cheap-ops \
    "--xlc-assign-stages=schedule=$1 chunks=$3 micro-batches=$4" --xlc-copy-into-chunks --cse \
    "--xlc-outline-units=split-backward=$5" --xlc-verify-staged $verify \
    "--xlc-assign-buckets=stage=$stage bucket-bytes=200 persistence-threshold=4 $ASSIGN" \
    "--xlc-insert-actions=schedule=$1 micro-batches=$4 $INSERT" --xlc-verify-timeline $verify \
    --xlc-prefetch-gathers=units=2 --xlc-verify-timeline $verify \
    --xlc-normalize-reductions --xlc-form-kernels --xlc-lower-to-exec --xlc-assign-offsets --xlc-verify-placement $verify \
    >"$output" 2>&1 && [ "$(grep -c '^// all equal' "$output")" = 4 ] && proved=$((proved + 1)) ||
    { echo "$1, pp $2, micro-batches $4, layout $6:"; grep error: "$output"; }
}
chosen() { # number of the schedule, pp, micro-batches: a Latin square of three
  [ -z "$PAIRS" ] || [ $((($1 + $2 + $3) % 3)) = 0 ]
}
for layout in "$@"; do
  for micro in 1 2 3 4 5; do
    [ $((micro % 2)) = 0 ] && prove interleaved 2 2 $micro false "$layout"
    [ -z "$PAIRS" ] || [ $((micro % 2)) = 1 ] || continue
    for pp in 2 3 4; do
      chosen 0 $pp $micro && prove gpipe $pp 1 $micro false "$layout"
      chosen 1 $pp $micro && prove 1f1b $pp 1 $micro false "$layout"
      chosen 2 $pp $micro && prove eager-1f1b $pp 1 $micro false "$layout"
      chosen 3 $pp $micro && prove zb-h1 $pp 1 $micro true "$layout"
      chosen 4 $pp $micro && prove zb-h2 $pp 1 $micro true "$layout"
    done
    prove zb-v 2 2 $micro true "$layout"
  done
done
echo "proved $proved layouts"
