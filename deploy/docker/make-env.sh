#!/usr/bin/env bash
# Writes .env beside docker-compose.yml, with secrets of its own, from .env.example. Leaves an .env that is there alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ ! -e .env ] || { echo ".env is there already"; exit 0; }
umask 077
while IFS= read -r line; do
  case $line in
    *=CHANGE_ME) echo "${line%CHANGE_ME}$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')" ;;
    *) echo "$line" ;;
  esac
done < .env.example > .env
echo "Wrote .env with new secrets. Keep a copy: without IDENTITY_SECRET everybody is signed out."
