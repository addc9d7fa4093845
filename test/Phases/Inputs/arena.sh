# usage: arena.sh TEMPORARY LINES-OF-SPEC MODEL.onnx...
# Plans each model at stages 0 to 3 on 1, 2, 4 ranks, with buckets small and large, and prints where the arena's height is more
# than 1.02 of the lower bound; at last how many were planned.
spec=$1.yaml lines=$2 planned=0
shift 2
for model in "$@"; do
  for stage in 0 1 2 3; do
    for ranks in 1 2 4; do
      for bucket in 16KiB 25MiB; do
        printf "dp: $ranks\nzero_stage: $stage\nzero: {persistence_threshold: 0, bucket_size: $bucket}\n$lines\n" >"$spec"
        height=$(xlc plan "$model" --spec "$spec" --stop-after=Memory | grep -o 'arena [0-9]* lower_bound [0-9]*') || exit 1
        planned=$((planned + 1))
        echo "$height" | awk -v name="$(basename "$(dirname "$model")") stage $stage ranks $ranks bucket $bucket" \
          '$2 > 1.02 * $4 || $2 < $4 { print "too high: " name ", " $0 }'
      done
    done
  done
done
echo "planned $planned"
