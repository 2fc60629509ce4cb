#!/usr/bin/env bash
# Puts the Secrets of the local overlay into the cluster, with random passwords. What is there already stays.
set -euo pipefail
# With a letter first, or NATS might read a number.
random () { echo "s$(od -An -tx1 -N24 /dev/urandom | tr -d ' \n')"; }
secret () {
  local name=$1; shift
  kubectl --namespace tandem get secret "$name" >/dev/null 2>&1 || kubectl --namespace tandem create secret generic "$name" "${@/#/--from-literal=}"
}
if kubectl --namespace tandem get secret data >/dev/null 2>&1; then echo "The Secrets are there already."; exit 0; fi

postgres=$(random) redis=$(random)
nats=("NATS_OPERATOR_PASSWORD=$(random)")
for service in identity profile social fitmatch dashboard notification; do
  password=$(random)
  nats+=("NATS_${service^^}_PASSWORD=$password")
  values=("DATABASE_URL=postgres://tandem_$service:$(random)@postgres:5432/postgres" "NATS_URL=nats://$service:$password@nats:4222")
  case $service in identity|dashboard|notification) values+=("REDIS_URL=redis://:$redis@redis:6379") ;; esac
  case $service in identity|notification) values+=("SMTP_URL=smtp://mail:1025") ;; esac
  [ "$service" != identity ] || values+=("SECRET=$(random)")
  secret "$service" "${values[@]}"
done
secret gateway "REDIS_URL=redis://:$redis@redis:6379"
secret nats "${nats[@]}"
secret database-admin "ADMIN_DATABASE_URL=postgres://postgres:$postgres@postgres:5432/postgres"
# Last, as it tells whether the others were made.
secret data "POSTGRES_PASSWORD=$postgres" "REDIS_PASSWORD=$redis"
