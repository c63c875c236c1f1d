#!/bin/sh
# usage: ptxas_log.sh OBJECT COMMAND...: runs the compiler and keeps what ptxas says of each kernel in
# OBJECT.ptxas, for the budget; its other words pass through.
object=$1
shift
"$@" 2>"$object.stderr"
status=$?
grep -E '^ptxas info|bytes stack frame' "$object.stderr" >"$object.ptxas"
grep -vE '^ptxas info|bytes stack frame' "$object.stderr" >&2
rm -f "$object.stderr"
exit $status
