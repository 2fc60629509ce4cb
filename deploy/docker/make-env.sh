#!/usr/bin/env bash
# Writes .env beside docker-compose.yml, from .env.example and with new secrets. An existing .env is kept.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ ! -e .env ] || { echo ".env exists already"; exit 0; }
umask 077
read -r private public < <(deploy/docker/root-key.sh)
[ -n "${public:-}" ] || exit 1
while IFS= read -r line; do
  case $line in
    # Starts with a letter: NATS parses a value that starts with a digit as a number.
    *=CHANGE_ME) echo "${line%CHANGE_ME}s$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')" ;;
    *=ROOT_KEY) echo "${line%ROOT_KEY}$private" ;;
    *=ROOT_PUBLIC_KEY) echo "${line%ROOT_PUBLIC_KEY}$public" ;;
    *) echo "$line" ;;
  esac
done < .env.example > .env
echo "Wrote .env with new secrets. Keep a copy: without IDENTITY_SECRET all accounts are signed out."
