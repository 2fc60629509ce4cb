#!/usr/bin/env bash
# Releases all processes, or one service with a version of its own:
#   REGISTRY=registry.example.org deploy/release.sh 1.2.0
#   REGISTRY=registry.example.org deploy/release.sh 1.2.1 social
# It refuses what would break a deployed neighbour or clients of the last release, runs the tests, builds and pushes the
# images, and commits and tags a record of each: deploy/release/records says what is deployed. It pushes no branch.
# CHANGELOG.md needs a section [1.2.0], or [social 1.2.1]. Without arguments it lists its variables.
set -euo pipefail
cd "$(dirname "$0")/.."
exec node deploy/local/with-node.mjs deploy/release/cli.ts "$@"
