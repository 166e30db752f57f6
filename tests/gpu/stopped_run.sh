#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Checks that a run of run-gpu.sh that is stopped proves nothing that it did not finish.
set -uo pipefail

usage() {
  cat <<'END'
usage: tests/gpu/stopped_run.sh

Checks that a run of run-gpu.sh that is stopped proves nothing that it did not finish. A bundle of stubs
stands for the kernel tests, the card and compute-sanitizer, so it needs no GPU. Prints what is wrong;
nothing if all is well.

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
mkdir -p "$bundle"/kernels/native/{sgm,sync} "$bundle/runtime" "$programs"
cp "$here/../tally.py" "$here/proof.py" "$here/run-gpu.sh" "$bundle/"
echo '{"sgm": "1", "sync": "2"}' >"$bundle/digests.json"
echo 13.0 >"$bundle/toolkit"
: >"$bundle/runtime/env.sh"

cat >"$bundle/kernels/native/sync/test_sync" <<'END'
#!/usr/bin/env bash
[[ $1 != --gtest_list_tests ]] || exec printf 'Suite.\n  One\n  Two\n'
# The first shard of sgm's tests ends, the second one does not.
[[ $0 != */sgm/* || $GTEST_SHARD_INDEX == 0 ]] || sleep 60
printf '[       OK ] Suite.One (1 ms)\n[  PASSED  ] 1 test.\nERROR SUMMARY: 0 errors\nRACECHECK SUMMARY: 0 hazards\n'
END
cp "$bundle/kernels/native/sync/test_sync" "$bundle/kernels/native/sgm/test_sgm"
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
chmod +x "$bundle"/kernels/native/*/test_* "$programs"/*

start() { # PART
  : >"$scratch/$1.log" # grep may look into it before the run has begun
  PATH=$programs:$PATH bash "$bundle/run-gpu.sh" --operations "$1" sanitizers >"$scratch/$1.log" 2>&1 &
}
start sync
wait
start sgm
for ((i = 0; i < 600; ++i)); do
  [[ $(grep -c '^ok: .* 1 of 2 found nothing' "$scratch/sgm.log") -lt 4 ]] || break
  sleep 0.1
done
kill -TERM $!
wait

python3 - "$bundle/results/proof.json" <<'END'
import json, sys
parts = json.load(open(sys.argv[1]))["parts"]
tools = ["initcheck", "memcheck", "racecheck", "synccheck"]
for part, failed in (("sync", 0), ("sgm", 1)):
    found = parts.get(part, {}).get("sanitizers", {})
    if sorted(found) != tools or any((found[tool]["failed"] > 0) != (failed > 0) for tool in tools):
        print(f"{part}: {json.dumps(found)}")
END
