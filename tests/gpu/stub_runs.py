#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Checks which proofs run-gpu.sh writes, with stubs instead of a GPU.
set -uo pipefail

usage() {
  cat <<'END'
usage: tests/gpu/stub_runs.sh

Checks that a run of run-gpu.sh that is stopped proves nothing that it did not finish, and that the element
tests with another GStreamer get a record of their own. A bundle of stubs stands for the tests, the card and
compute-sanitizer, so it needs no GPU. Prints what is wrong; nothing if all is well.

  -h, --help  this text
END
}

case ${1:-} in
  '') ;;
  -h | --help)
    usage
    exit 0
    ;;
  *)
    usage >&2
    exit 2
    ;;
esac

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bundle=$scratch/bundle programs=$scratch/bin
mkdir -p "$bundle"/kernels/native/{sgm,sync} "$bundle"/{,debian13/}{check,runtime/bin} "$programs"
cp "$here/../tally.py" "$here/proof.py" "$here/run-gpu.sh" "$bundle/"
echo '{"sgm": "1", "sync": "2", "elements": "3", "elements with GStreamer 1.26": "3"}' >"$bundle/digests.json"
echo 13.0 >"$bundle/toolkit"
: >"$bundle/runtime/env.sh"
echo 'export STUB_RUNTIME=26' >"$bundle/debian13/runtime/env.sh"

cat >"$bundle/kernels/native/sync/test_sync" <<'END'
#!/usr/bin/env bash
[[ $1 != --gtest_list_tests ]] || exec printf 'Suite.\n  One\n  Two\n'
# The first shard of sgm's tests ends, the second one does not.
[[ $0 != */sgm/* || $GTEST_SHARD_INDEX == 0 ]] || sleep 60
printf '[       OK ] Suite.One (1 ms)\n[  PASSED  ] 1 test.\nERROR SUMMARY: 0 errors\nRACECHECK SUMMARY: 0 hazards\n'
END
cp "$bundle/kernels/native/sync/test_sync" "$bundle/kernels/native/sgm/test_sgm"
# These element tests pass, but a check of check_leaks fails with the other GStreamer. There they must have
# been started with its runtime.
cat >"$bundle/check/check_leaks" <<'END'
#!/usr/bin/env bash
[[ $0 != */debian13/* || $STUB_RUNTIME-$STUB_STARTED == 26-yes ]] || exit 1
failures=0
[[ $0 != */debian13/*leaks ]] || failures=1
printf '%d%%: Checks: 2, Failures: %d, Errors: 0\n' $((100 - 50 * failures)) $failures
exit $failures
END
for program in {,debian13/}check/check_{states,leaks}; do
  [[ $program == check/check_leaks ]] || cp "$bundle/check/check_leaks" "$bundle/$program"
done
# shellcheck disable=SC2016
printf '#!/usr/bin/env bash\nSTUB_STARTED=yes exec "$@"\n' >"$bundle/debian13/runtime/bin/run"
cat >"$programs/nvidia-smi" <<'END'
#!/usr/bin/env bash
[[ $* != *--list-gpus* ]] && echo stub || echo 'GPU 0: stub'
END
cat >"$programs/compute-sanitizer" <<'END'
#!/usr/bin/env bash
while [[ $1 != /* ]]; do shift; done
exec "$@"
END
# All shards must run at the same time, because those that do not end would keep the others waiting.
printf '#!/usr/bin/env bash\necho 16\n' >"$programs/nproc"
chmod +x "$bundle"/kernels/native/*/test_* "$bundle"/{,debian13/}check/* "$bundle/debian13/runtime/bin/run" "$programs"/*

start() { # LOG ARGUMENT...
  local log=$scratch/$1.log
  : >"$log" # grep may look into it before the run has begun
  PATH=$programs:$PATH bash "$bundle/run-gpu.sh" "${@:2}" >"$log" 2>&1 &
}
start check check check13
wait
start sync --operations sync sanitizers
wait
start sgm --operations sgm sanitizers
for ((i = 0; i < 600; ++i)); do
  [[ $(grep -c '^ok: .* 1 of 2 found nothing' "$scratch/sgm.log") -lt 4 ]] || break
  sleep 0.1
done
kill -TERM $!
wait

# Without the other GStreamer, the stage has no results that could replace the earlier ones.
cp "$bundle/results/proof.json" "$bundle/proof.json"
rm -r "$bundle"/{debian13,results}
start without check13
wait

python3 - "$bundle" <<'END'
import json, sys
load = lambda name: json.load(open(f"{sys.argv[1]}/{name}"))["parts"]
parts = load("proof.json")
tools = ["initcheck", "memcheck", "racecheck", "synccheck"]
for part, failed in (("sync", 0), ("sgm", 1)):
    found = parts.get(part, {}).get("sanitizers", {})
    if sorted(found) != tools or any((found[tool]["failed"] > 0) != (failed > 0) for tool in tools):
        print(f"{part}: {json.dumps(found)}")
for part, suites in (("elements", {"check": {"passed": 4, "failed": 0, "skipped": 0}}),
                     ("elements with GStreamer 1.26", {"check13": {"passed": 3, "failed": 1, "skipped": 0}})):
    if parts.get(part, {}).get("suites") != suites:
        print(f"{part}: {json.dumps(parts.get(part))}")
if load("results/proof.json") != parts:
    print("a stage that was skipped has changed the proof")
END
