#!/usr/bin/env bash
# Creates the Secrets of the local overlay in the cluster, with random passwords. Existing ones are kept.
set -euo pipefail
# Starts with a letter: NATS parses a value that starts with a digit as a number.
random () { echo "s$(od -An -tx1 -N24 /dev/urandom | tr -d ' \n')"; }
secret () {
  local name=$1; shift
  kubectl --namespace tandem get secret "$name" >/dev/null 2>&1 ||
    kubectl --namespace tandem create secret generic "$name" "${@/#/--from-literal=}"
}
if kubectl --namespace tandem get secret data >/dev/null 2>&1; then echo "The Secrets are there already."; exit 0; fi

read -r private public < <("$(dirname "$0")/../../../docker/root-key.sh")
[ -n "${public:-}" ] || exit 1
postgres=$(random)
media=$(random)
nats=("NATS_OPERATOR_PASSWORD=$(random)")
redis=("REDIS_OPERATOR_PASSWORD=$(random)")
for main in "$(dirname "$0")"/../../../../services/*/main.ts; do
  service=$(basename "$(dirname "$main")")
  password=$(random)
  nats+=("NATS_${service^^}_PASSWORD=$password")
  values=("DATABASE_URL=postgres://tandem_$service:$(random)@postgres:5432/postgres")
  values+=("NATS_URL=nats://$service:$password@nats:4222")
  case $service in identity|dashboard|notification)
    password=$(random)
    redis+=("REDIS_${service^^}_PASSWORD=$password")
    values+=("REDIS_URL=redis://$service:$password@redis:6379") ;;
  esac
  case $service in identity|notification) values+=("SMTP_URL=smtp://mail:1025") ;; esac
  case $service in social|fitmatch) values+=("MEDIA_SIGNING_KEY=$media") ;; esac
  [ "$service" != identity ] || values+=("SECRET=$(random)" "IDENTITY_ROOT_PRIVATE_KEY=$private")
  secret "$service" "${values[@]}"
done
password=$(random)
nats+=("NATS_STREAMS_PASSWORD=$password")
secret streams "NATS_URL=nats://streams:$password@nats:4222"
password=$(random)
redis+=("REDIS_GATEWAY_PASSWORD=$password")
natspassword=$(random)
nats+=("NATS_GATEWAY_PASSWORD=$natspassword")
secret gateway "NATS_URL=nats://gateway:$natspassword@nats:4222" "REDIS_URL=redis://gateway:$password@redis:6379" \
  "MEDIA_SIGNING_KEY=$media"
secret nats "${nats[@]}"
secret redis "${redis[@]}"
kubectl --namespace tandem get configmap identity-root >/dev/null 2>&1 ||
  kubectl --namespace tandem create configmap identity-root "--from-literal=IDENTITY_ROOT_PUBLIC_KEYS=$public"
secret database-admin "ADMIN_DATABASE_URL=postgres://postgres:$postgres@postgres:5432/postgres"
# Last, because its existence shows that the others were created.
secret data "POSTGRES_PASSWORD=$postgres"
