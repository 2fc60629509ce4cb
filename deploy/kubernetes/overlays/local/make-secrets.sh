#!/usr/bin/env bash
# Creates the Secrets of the local overlay in the cluster, from the files that deploy/docker/make-env.sh writes: its
# servers have the same names in compose. Existing ones are kept.
set -euo pipefail
cd "$(dirname "$0")/../../../.."
deploy/docker/make-env.sh
from_env() { sed -n "s/^$1=//p" .env | head -n 1; }
folder=${SECRETS_DIR:-$(from_env SECRETS_DIR)}
folder=${folder:-.secrets}
kubectl=(kubectl --namespace tandem)

# secret <name> <file>…: each file is a variable. By a pipe, as every user of the machine can read a command line.
secret() {
  local name=$1
  shift
  "${kubectl[@]}" get secret "$name" >/dev/null 2>&1 ||
    "${kubectl[@]}" create secret generic "$name" \
      --from-env-file <(for file in "$@"; do echo "${file##*/}=$(cat "$file")"; done)
}
for name in gateway streams nats redis; do secret "$name" "$folder/$name"/*; done
for main in services/*/main.ts; do
  service=$(basename "$(dirname "$main")")
  secret "$service" "$folder/$service"/*
done
secret data "$folder/postgres/POSTGRES_PASSWORD"
secret database-admin "$folder/identity-migration/ADMIN_DATABASE_URL"
"${kubectl[@]}" get configmap identity-root >/dev/null 2>&1 ||
  "${kubectl[@]}" create configmap identity-root \
    --from-literal "IDENTITY_ROOT_PUBLIC_KEYS=$(from_env IDENTITY_ROOT_PUBLIC_KEYS)"
