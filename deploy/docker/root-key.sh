#!/usr/bin/env bash
# Prints a new root key for identity and its public half, both as base64 of their DER: IDENTITY_ROOT_PRIVATE_KEY and one
# of IDENTITY_ROOT_PUBLIC_KEYS.
set -euo pipefail
command -v openssl >/dev/null || { echo "openssl is needed to make identity's root key" >&2; exit 1; }
private=$(openssl genpkey -algorithm ed25519 -outform DER | base64 | tr -d '\n')
public=$(printf %s "$private" | base64 -d | openssl pkey -inform DER -pubout -outform DER | base64 | tr -d '\n')
echo "$private $public"
