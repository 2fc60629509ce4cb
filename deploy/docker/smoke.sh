#!/usr/bin/env bash
# Starts the system in containers, walks two accounts through it, restarts every container, walks again, and removes
# everything. A stand-in for FCM gets the pushes. Needs docker, docker compose (or docker-compose 1.29) and curl.
# Creates .env if there is none.
set -euo pipefail
cd "$(dirname "$0")/../.."
if docker compose version >/dev/null 2>&1; then compose=(docker compose); else compose=(docker-compose); fi
compose+=(--project-name tandem-smoke --profile mail -f docker-compose.yml)

deploy/docker/make-env.sh
work=$(mktemp -d)
chmod 755 "$work"
install -d -m 777 "$work/fcm"
# All accounts of the walk share one client address and would reach its limits.
{
  echo 'version: "3.9"'
  echo 'services:'
  # For MailDev instead of Mailpit.
  echo '  mail: { environment: { MAILDEV_WEB_PORT: "8025" } }'
  echo '  gateway: { environment: { LIMIT_AUTH_REGISTER: "off", LIMIT_AUTH_VERIFY_EMAIL: "off" } }'
  cat <<END
  fcm:
    image: tandem/gateway:local
    command: ["node", "/fcm/deploy/docker/fake-fcm.ts", "fcm", "/account"]
    volumes:
      - "$PWD/deploy/docker:/fcm/deploy/docker:ro"
      - "$PWD/services/notification/test:/fcm/services/notification/test:ro"
      - "$work/fcm:/account"
  notification:
    environment: { FCM_SERVICE_ACCOUNT_FILE: /run/fcm/service-account.json, FCM_BASE_URL: "http://fcm:8090" }
    volumes: ["$work/fcm:/run/fcm:ro"]
END
} > "$work/override.yml"

# NATS before 2.10 rejects sync_interval.
rights="$PWD/deploy/kubernetes/components/nats-rights/rights.conf"
secrets=$(realpath "${SECRETS_DIR:-.secrets}")
start="$PWD/deploy/docker/nats.sh:/etc/nats/start.sh:ro"
if ! docker run --rm -v "$PWD/deploy/docker/nats.conf:/etc/nats/nats.conf:ro" -v "$rights:/etc/nats/rights.conf:ro" \
  -v "$start" -v "$secrets/nats:/run/secrets:ro" --entrypoint sh "${NATS_IMAGE:-nats:2.12-alpine}" \
  /etc/nats/start.sh -t >/dev/null 2>&1; then
  sed '/sync_interval/d' deploy/docker/nats.conf > "$work/nats.conf"
  volumes="[\"$work/nats.conf:/etc/nats/nats.conf:ro\", \"$rights:/etc/nats/rights.conf:ro\"]"
  echo "  nats: { volumes: $volumes }" >> "$work/override.yml"
fi
compose+=(-f "$work/override.yml")

cleanup() {
  status=$?
  [ $status = 0 ] || "${compose[@]}" logs --tail 40
  "${compose[@]}" down --volumes --timeout 20
  rm -rf "$work"
  exit $status
}
trap cleanup EXIT

if [ "${SMOKE_BUILD:-yes}" = yes ]; then
  for main in gateway/main.ts services/*/main.ts; do
    service=$(basename "$(dirname "$main")")
    docker build --network host -q -f deploy/docker/Dockerfile --build-arg "SERVICE=$service" \
      ${NODE_IMAGE:+--build-arg "NODE_IMAGE=$NODE_IMAGE"} -t "tandem/$service:local" .
  done
fi

"${compose[@]}" up -d --no-build fcm
for _ in $(seq 60); do [ -e "$work/fcm/service-account.json" ] && break; sleep 1; done
"${compose[@]}" up -d --no-build
# In a container too, so that this machine needs no Node.
walk() {
  docker run --rm --network tandem-smoke_default -v "$PWD/deploy/docker/walk.mjs:/walk.mjs:ro" \
    "tandem/gateway:local" node /walk.mjs http://gateway:8080 http://mail:8025
}
walk
"${compose[@]}" logs --no-color fcm | grep 'push to token-'
curl -fsS "http://127.0.0.1:${PORT:-8080}/health/ready" && echo
# Those that run: `compose config --services` of docker-compose 1.29 also lists the services of other profiles.
name='{{.Label "com.docker.compose.service"}}'
running=$(docker ps --filter label=com.docker.compose.project=tandem-smoke --format "$name")
for container in $(grep -vx 'mail\|fcm' <<< "$running"); do
  echo "restarting $container"
  "${compose[@]}" restart -t 20 "$container"
done
walk
echo "smoke: passed"
