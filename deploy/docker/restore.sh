#!/usr/bin/env bash
# Restores a dump of the profile `backups` in compose, and starts what it stopped:
#   deploy/docker/restore.sh list
#   deploy/docker/restore.sh tandem-20261122T030000Z.dump            everything
#   deploy/docker/restore.sh tandem-20261122T030000Z.dump social     one service
set -euo pipefail
cd "$(dirname "$0")/../.."
file=${1:?usage: restore.sh list | <dump> [<service>]} service=${2:-}
if docker compose version >/dev/null 2>&1; then compose=(docker compose); else compose=(docker-compose); fi
backup=("${compose[@]}" --profile backups run --rm --no-deps -T --entrypoint sh backup)
[ "$file" != list ] || exec "${backup[@]}" -c 'ls -l /backups'
# A shell cannot read all of .env: values with spaces need no quotes there.
secrets=${SECRETS_DIR:-$(sed -n 's/^SECRETS_DIR=//p' .env | tail -n 1)}

services=()
for main in services/*/main.ts; do services+=("$(basename "$(dirname "$main")")"); done
[ -z "$service" ] || services=("$service")
processes=("${services[@]}")
[ -n "$service" ] || processes+=(gateway)
recover() {
  NATS_URL="nats://operator:$(cat "${secrets:-.secrets}/nats/NATS_OPERATOR_PASSWORD")@nats:4222" \
    "${compose[@]}" exec -T -e NATS_URL streams node packages/bus-kit/recovery-cli.ts "$@"
}

prepare_servers() {
  if [ -n "$service" ]; then
    recover consumers "$service"
  else
    recover streams && "${compose[@]}" exec -T redis sh -c \
      'REDISCLI_AUTH=$(cat /run/secrets/REDIS_OPERATOR_PASSWORD) redis-cli --user operator flushall'
  fi
}

# Before anything is stopped.
"${backup[@]}" -c 'pg_restore --list "$0" > /dev/null' "/backups/$file"
"${compose[@]}" stop "${processes[@]}"
if ! "${backup[@]}" /etc/tandem/restore-schemas.sh "/backups/$file" "${services[@]}"; then
  # They are as they were.
  "${compose[@]}" up -d --no-build
  exit 1
fi
if ! prepare_servers; then
  echo "The schemas are restored, but NATS or Redis is not prepared, and the processes would miss events." >&2
  echo "Leave them stopped, start the servers (docker compose up -d redis nats streams), and run this again." >&2
  exit 1
fi
# Runs the migrations since the dump, too. It ends at a container that does not become healthy in time.
"${compose[@]}" up -d --no-build || {
  status=$?
  echo "Not everything runs yet. Start the rest: docker compose up -d --no-build" >&2
}
echo "Restored ${service:-everything}. Now replay the erasures:"
echo "  npm run operator -- --in compose erasures replay"
exit "${status:-0}"
