#!/usr/bin/env bash
# Runs a release in compose, all of it or one service: the versions in deploy/release/records, or the given one.
#   deploy/docker/roll-out.sh                  everything
#   deploy/docker/roll-out.sh social           one service
#   deploy/docker/roll-out.sh social 1.2.0     one service, in another version: a roll-back
# It writes the secrets that the version adds, pulls the images and runs the migrations; if one fails, the processes are
# left as they are. Then it replaces them one after the other, the gateway last, and waits until each is ready. Clients
# that repeat a 503 see no error. What has the image of a process follows it: streams that of identity, and the console,
# if it is there, that of the gateway.
set -euo pipefail
cd "$(dirname "$0")/../.."
only=${1:-} version=${2:-}
if docker compose version >/dev/null 2>&1; then compose=(docker compose); else compose=(docker-compose); fi
[ -e .env ] || { echo "There is no .env: run deploy/docker/make-env.sh" >&2; exit 1; }
# A process does not start without the file of a secret, even of one without a value.
deploy/docker/make-env.sh >/dev/null
READY_SECONDS=${READY_SECONDS:-180}

# Identity first: a process is ready once it has fetched the keys that verify tokens.
services=()
for main in services/identity/main.ts services/*/main.ts; do
  service=$(basename "$(dirname "$main")")
  [[ " ${services[*]-} " == *" $service "* || ! -e $main ]] || services+=("$service")
done
processes=("${services[@]}" gateway)
if [ -n "$only" ]; then
  [[ " ${processes[*]} " == *" $only "* ]] || { echo "There is no process $only" >&2; exit 1; }
  processes=("$only")
fi

# set_variable <name> <value>: in .env, where the file has it or at its end
set_variable() {
  if grep -q "^$1=" .env; then sed -i "s|^$1=.*|$1=$2|" .env; else echo "$1=$2" >> .env; fi
}
field() { sed -n "s/^  \"$2\": \"\(.*\)\",\?$/\1/p" "deploy/release/records/$1.json"; }

before=$(mktemp)
trap 'rm -f "$before"' EXIT
cp .env "$before"
restore() { cp "$before" .env; echo "The processes were left as they are: $1" >&2; exit 1; }

for process in "${processes[@]}"; do
  [ -n "$version" ] || [ -e "deploy/release/records/$process.json" ] || restore "$process was never released"
  if [ -e "deploy/release/records/$process.json" ]; then
    image=$(field "$process" image)
    set_variable TANDEM_REGISTRY "${image%tandem/"$process"}"
  fi
  set_variable "TANDEM_${process^^}_VERSION" "${version:-$(field "$process" version)@$(field "$process" digest)}"
done
if grep -q '^TANDEM_REGISTRY=.' .env; then
  "${compose[@]}" pull --quiet "${processes[@]}" || restore "an image cannot be pulled"
fi

# Servers that do not run yet, and the permissions on NATS and Redis, which these read when they start.
"${compose[@]}" up -d --no-build postgres redis nats streams || restore "a server does not start"
for ((waited = 0; waited < READY_SECONDS; waited++)); do
  "${compose[@]}" exec -T postgres pg_isready --quiet -h 127.0.0.1 -U postgres && break
  sleep 1
done
rights=deploy/kubernetes/components/nats-rights/rights.conf users=deploy/kubernetes/components/redis-users
"${compose[@]}" exec -T nats cat /etc/nats/rights.conf | cmp -s - "$rights" ||
  "${compose[@]}" restart nats || restore "NATS does not restart"
"${compose[@]}" exec -T redis cat /tmp/users.acl.source | cmp -s - <(cat "$users"/{start.sh,users.acl}) ||
  "${compose[@]}" restart redis || restore "Redis does not restart"

for process in "${processes[@]}"; do
  [ "$process" = gateway ] && continue
  "${compose[@]}" run --rm --no-deps -T "$process-migration" || restore "the migration of $process failed"
done

is_ready='exec 3<>/dev/tcp/127.0.0.1/8080 && printf "GET /health/ready HTTP/1.0\r\n\r\n" >&3 && read -r _ status _ <&3'
is_ready+=' && [ "$status" = 200 ]'
for process in "${processes[@]}"; do
  "${compose[@]}" up -d --no-build --no-deps "$process"
  for ((waited = 0; ; waited++)); do
    "${compose[@]}" exec -T "$process" bash -c "$is_ready" >/dev/null 2>&1 && break
    if [ "$waited" -ge "$READY_SECONDS" ]; then
      "${compose[@]}" logs --tail 20 "$process" >&2
      echo "$process is not ready after $READY_SECONDS s. .env names its new version; the earlier one was:" >&2
      grep "^TANDEM_${process^^}_VERSION=" "$before" >&2
      exit 1
    fi
    sleep 1
  done
  echo "$process runs $(sed -n "s/^TANDEM_${process^^}_VERSION=//p" .env)"
done
if [[ " ${processes[*]} " == *" gateway "* ]]; then
  console=$("${compose[@]}" --profile console ps --all --quiet console)
  [ -z "$console" ] || "${compose[@]}" --profile console up -d --no-build --no-deps console
fi
