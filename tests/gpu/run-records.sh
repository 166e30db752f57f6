# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The part of run-gpu.sh that runs programs and records their results, even if the run is interrupted. It uses these
# variables of run-gpu.sh: the folders bundle, results and work, the card, its driver and the number of cards.
# shellcheck disable=SC2154

stage=''
log_folder=''
begin() { # STAGE
  stage=$1
  log_folder=$results/logs/$stage
  rm -rf "$log_folder" "$results/logs-$stage.tar.gz"
  if ! { mkdir -p "$log_folder" && : >"$work/$stage.planned" && : >"$work/$stage.jsonl"; }; then no_space; fi
  printf '\n== %s\n' "$stage"
}

no_space() {
  echo "run-gpu.sh: cannot write to $results or $work, so the stage $stage would prove nothing: free some disk space." >&2
  exit 1
}

# write_results: brings results.json and proof.json up to date.
write_results() { python3 "$bundle/proof.py" write "$bundle" "$results" "$work" "$card" "$driver" "$cards"; }

# plan NAME...: lists in advance all results that the stage will have. Missing results count as failed, so that an
# interrupted stage never looks like a proof.
plan() {
  if ! { printf '%s\n' "$@" >>"$work/$stage.planned" && write_results >/dev/null; }; then no_space; fi
}

# record NAME STATUS: reads the output of a program that has ended, counts its results and writes them. Prints
# the counts as JSON.
record() {
  python3 "$bundle/tally.py" collect "$1" /dev/stdin "$2" | tee -a "$work/$stage.jsonl"
  write_results >/dev/null
}

# never_on_card LOG: succeeds if a program under a sanitizer never used the GPU, because all of its tests
# were skipped or passed without it. The sanitizer reports this as an error.
never_on_card() {
  grep -q 'terminated before first instrumented API call' "$1" && grep -q '^\[  PASSED  \]' "$1" &&
    ! grep -q '^\[  FAILED  \]' "$1"
}

# run NAME SECONDS PROGRAM...: runs a program, keeps its output as a log and counts its results.
run() {
  local name=$1 seconds=$2 status=0 began=$SECONDS
  log=$log_folder/${name//[^A-Za-z0-9._-]/-}.log
  shift 2
  # In the foreground, the program would keep this script from reacting to signals.
  in_runtime timeout --kill-after=10 "$seconds" "$@" </dev/null >"$log" 2>&1 &
  wait $! || status=$?
  ! never_on_card "$log" || status=0
  # If this line cannot be written, the log also lacks the program's last lines, which may be its failures.
  echo >>"$log" || status=74
  record "$name" "$status" <"$log" |
    python3 -c 'import json, sys
r = json.loads(sys.stdin.read())
print("%-48s %5d passed %3d failed %3d skipped %4d s" % (r["name"], r["passed"], len(r["failed"]), len(r["skipped"]), int(sys.argv[1])))' \
      $((SECONDS - began))
  [[ $status -eq 0 ]] || grep -vE '^\[ +(OK|RUN) ' "$log" | tail -n 15
  return $status
}

# verdict NAME WHAT WHY-NOT: counts one more result under the name; an empty reason means success.
verdict() {
  local line="ok: $2"
  [[ -z $3 ]] || line="not ok: $2: $3"
  echo "$line"
  record "$1" 0 <<<"$line" >/dev/null
}

# skip NAME WHY: counts a skipped result under the name.
skip() {
  echo "SKIP: $1: $2"
  record "$1" 77 <<<"SKIP: $1: $2" >/dev/null
}

# end_stage: packs the logs, which are many files, into an archive.
end_stage() {
  tar -C "$results" -czf "$results/logs-$stage.tar.gz" "logs/$stage"
  if [[ $? -gt 1 ]]; then # 1: a stopped program was still writing its log
    rm -f "$results/logs-$stage.tar.gz"
    return
  fi
  rm -r "$log_folder"
  rmdir --ignore-fail-on-non-empty "$results/logs"
}

# descendants PROCESS: prints the ids of the process's descendants, parents before children.
descendants() {
  local child
  for child in $(pgrep -P "$1"); do
    echo "$child"
    descendants "$child"
  done
}

# timeout puts each program into a process group of its own, which a signal to this script's group does not
# reach. timeout forwards the signals that it receives to its program.
stopped() {
  local running
  trap '' TERM INT HUP
  mapfile -t running < <(descendants $$)
  kill -TERM "${running[@]}" 2>/dev/null
  write_results
  end_stage
  exit 143
}
