#!/bin/sh
# Starts NATS in a container. Its configuration takes the passwords of its users from the environment.
set -eu
for file in /run/secrets/NATS_*_PASSWORD; do export "${file##*/}=$(cat "$file")"; done
exec nats-server --config /etc/nats/nats.conf "$@"
