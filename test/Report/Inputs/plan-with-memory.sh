#!/bin/sh
# plan-with-memory.sh MODEL SPEC MEMORY: the plan of a spec on devices of that memory.
{ cat "$2"; echo "cluster: {device_memory: $3}"; } > "$2.$3.yaml"
exec xlc plan "$1" --spec "$2.$3.yaml"
