#!/usr/bin/env bash
# Writes .env beside docker-compose.yml from .env.example, and a file for each secret: .secrets/<container>/<VARIABLE>.
# Each container sees its own folder only. What exists is kept. A secret that an older .env has is taken from there.
set -euo pipefail
cd "$(dirname "$0")/../.."
umask 077
from_env() { [ ! -e .env ] || sed -n "s/^$1=//p" .env | head -n 1; }
# Only its owner can enter the folder. Below it, containers read their files as users of their own.
secrets=${SECRETS_DIR:-$(from_env SECRETS_DIR)}
secrets=${secrets:-.secrets}
mkdir -p "$secrets"

# Starts with a letter: NATS parses a value that starts with a digit as a number.
random() { echo "s$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')"; }
# put <container>/<VARIABLE> <value>
put() {
  if [ ! -e "$secrets/$1" ]; then
    mkdir -p "$secrets/${1%/*}"
    chmod 755 "$secrets/${1%/*}"
    printf '%s\n' "$2" > "$secrets/$1"
    chmod 644 "$secrets/$1"
  fi
}
# secret <container>/<VARIABLE> [<name in an older .env>]: prints it, and creates it if it is missing
secret() {
  old=$(from_env "${2:-${1#*/}}")
  put "$1" "${old:-$(random)}"
  cat "$secrets/$1"
}

if [ ! -e "$secrets/identity/IDENTITY_ROOT_PRIVATE_KEY" ]; then
  private=$(from_env IDENTITY_ROOT_PRIVATE_KEY)
  if [ -z "$private" ]; then
    read -r private public < <(deploy/docker/root-key.sh)
    [ -n "${public:-}" ] || exit 1
    [ ! -e .env ] || { echo ".env has a public root key, but $secrets has no private one" >&2; exit 1; }
  fi
  put identity/IDENTITY_ROOT_PRIVATE_KEY "$private"
fi
if [ ! -e .env ]; then
  [ -n "${public:-}" ] || { echo "$secrets has a root key, but there is no .env with its public half" >&2; exit 1; }
  sed "s|^IDENTITY_ROOT_PUBLIC_KEYS=.*|IDENTITY_ROOT_PUBLIC_KEYS=$public|" .env.example > .env
fi

postgres=$(secret postgres/POSTGRES_PASSWORD)
put backup/PGPASSWORD "$postgres"
secret redis/REDIS_OPERATOR_PASSWORD >/dev/null
secret nats/NATS_OPERATOR_PASSWORD >/dev/null
secret grafana/GF_SECURITY_ADMIN_PASSWORD GRAFANA_PASSWORD >/dev/null
secret identity/SECRET IDENTITY_SECRET >/dev/null

connect_nats() { put "$1/NATS_URL" "nats://$1:$(secret "nats/NATS_${1^^}_PASSWORD")@nats:4222"; }
for service in services/*/main.ts; do
  name=$(basename "$(dirname "$service")")
  password=$(from_env "${name^^}_DB_PASSWORD")
  put "$name/DATABASE_URL" "postgres://tandem_$name:${password:-$(random)}@postgres:5432/postgres"
  put "$name-migration/DATABASE_URL" "$(cat "$secrets/$name/DATABASE_URL")"
  put "$name-migration/ADMIN_DATABASE_URL" "postgres://postgres:$postgres@postgres:5432/postgres"
  connect_nats "$name"
done
for name in gateway streams; do connect_nats "$name"; done
for name in gateway identity dashboard notification; do
  put "$name/REDIS_URL" "redis://$name:$(secret "redis/REDIS_${name^^}_PASSWORD")@redis:6379"
done
media=$(secret gateway/MEDIA_SIGNING_KEY)
for name in social fitmatch; do put "$name/MEDIA_SIGNING_KEY" "$media"; done

# Without a value until an operator writes one.
smtp=$(from_env SMTP_URL)
for name in identity notification; do put "$name/SMTP_URL" "${smtp:-smtp://mail:1025}"; done
put identity/PROVIDER_B_PRIVATE_KEY "$(from_env PROVIDER_B_PRIVATE_KEY)"
put identity/REVENUECAT_SECRET_KEY "$(from_env REVENUECAT_SECRET_KEY)"
put identity/REVENUECAT_WEBHOOK_AUTHORIZATION "$(from_env REVENUECAT_WEBHOOK_AUTHORIZATION)"
for name in identity social fitmatch notification; do put "$name/HOOKS" "$(from_env HOOKS)"; done
for name in identity profile social fitmatch; do
  for variable in S3_ACCESS_KEY_ID S3_SECRET_ACCESS_KEY CDN_PURGE_TOKEN; do
    put "$name/$variable" "$(from_env "$variable")"
  done
done
echo "The settings are in .env, the secrets in $secrets."
echo "Keep a copy: without $secrets/identity all accounts are signed out."
