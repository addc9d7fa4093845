# usage: verify-layouts.sh MODEL.mlir TEMPORARY RANKS...
# Proves a model after each phase (Stage, DataParallel, Schedule, Memory) against its unpartitioned self in the
# reference interpreter, for the given numbers of ranks x every shard group that divides them x stages 0 to 3 x 1 to 3 micro-batches.
# With PAIRS a third of these, in which every two of shard group, stage and micro-batches meet. BUCKET and PERSISTENT are sizes, ASSIGN and INSERT further options of the passes that assign buckets and insert actions.
# Prints a line per layout that differs and, at last, how many were proved.
model=$1 reference=$2.reference.mlir output=$2.output
shift 2
xlc-opt "$model" --xlc-differentiate --cse --xlc-append-update --xlc-verify-differentiated -o "$reference" || exit 1
verify=--xlc-verify-against=reference=$reference
proved=0
for ranks in "$@"; do
  for shards in $(seq 1 "$ranks"); do
    [ $((ranks % shards)) = 0 ] || continue
    for stage in 0 1 2 3; do
      for micro in 1 2 3; do
        [ -z "$PAIRS" ] || [ $(((shards + stage + micro) % 3)) = 0 ] || continue
        xlc-opt "$reference" --xlc-rematerialize-cheap-ops --cse --xlc-outline-units --xlc-verify-staged $verify \
          "--xlc-test-set-mesh=dp=$ranks shards=$shards" "--xlc-assign-buckets=stage=$stage bucket-bytes=${BUCKET:-200} persistence-threshold=${PERSISTENT:-4} $ASSIGN" \
          "--xlc-insert-actions=micro-batches=$micro $INSERT" --xlc-verify-timeline $verify \
          --xlc-prefetch-gathers=units=2 --xlc-verify-timeline $verify \
          --xlc-normalize-reductions --xlc-form-kernels --xlc-lower-to-exec --xlc-assign-offsets --xlc-verify-placement $verify \
          >"$output" 2>&1 && [ "$(grep -c '^// all equal' "$output")" = 4 ] && proved=$((proved + 1)) ||
          { echo "ranks $ranks, shards $shards, stage $stage, micro-batches $micro:"; grep error: "$output"; }
      done
    done
  done
done
echo "proved $proved layouts"
