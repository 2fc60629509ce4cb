#!/usr/bin/env bash
# Releases a version: REGISTRY=registry.example.org deploy/release.sh 1.2.0
# It builds and pushes the image of each process for two architectures, and writes an overlay that names them by digest,
# deploy/kubernetes/overlays/release. With syft it writes an SBOM of each image, with cosign it signs each. The version
# must be that of package.json and have a section in CHANGELOG.md. It tags the commit, and pushes no branch.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?usage: REGISTRY=registry.example.org deploy/release.sh <version>}
registry=${REGISTRY:?the registry to push to, such as registry.example.org}
platforms=${PLATFORMS:-linux/amd64,linux/arm64}

fail() { echo "release: $1" >&2; exit 1; }
[ -z "$(git status --porcelain)" ] || fail "the work tree has changes that are not committed"
grep -q "\"version\": \"$version\"" package.json || fail "package.json has another version than $version"
grep -q "^## \[$version\]" CHANGELOG.md || fail "CHANGELOG.md has no section [$version]"
commit=$(git rev-parse HEAD)

overlay=deploy/kubernetes/overlays/release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
  echo "# Tandem $version, commit $commit. Written by deploy/release.sh."
  echo "apiVersion: kustomize.config.k8s.io/v1beta1"
  echo "kind: Kustomization"
  echo "resources: [../production]"
  echo "images:"
} > "$work/kustomization.yaml"

for main in gateway/main.ts services/*/main.ts; do
  name=$(basename "$(dirname "$main")")
  image=$registry/tandem/$name
  docker buildx build --push --platform "$platforms" --file deploy/docker/Dockerfile --tag "$image:$version" \
    --build-arg "SERVICE=$name" --build-arg "VERSION=$version" --build-arg "COMMIT=$commit" \
    ${NODE_IMAGE:+--build-arg "NODE_IMAGE=$NODE_IMAGE"} --metadata-file "$work/$name.json" .
  digest=$(sed -n 's/.*"containerimage.digest": *"\(sha256:[0-9a-f]*\)".*/\1/p' "$work/$name.json")
  [ -n "$digest" ] || fail "the builder reported no digest of $name"
  echo "  - { name: registry.example.org/tandem/$name, newName: $image, digest: $digest }" >> "$work/kustomization.yaml"
  if command -v syft >/dev/null; then
    mkdir -p deploy/sbom
    syft "$image@$digest" --output "cyclonedx-json=deploy/sbom/$name.json"
  else
    echo "release: syft is not installed, so $name has no SBOM" >&2
  fi
  # Without a key, cosign signs with the identity of the CI job.
  if command -v cosign >/dev/null; then
    cosign sign --yes ${COSIGN_KEY:+--key "$COSIGN_KEY"} "$image@$digest"
  else
    echo "release: cosign is not installed, so $name is not signed" >&2
  fi
done

mkdir -p "$overlay"
mv "$work/kustomization.yaml" "$overlay/kustomization.yaml"
git tag --annotate "v$version" --message "Tandem $version"
echo "Released $version. Roll it out: deploy/kubernetes/roll-out.sh release"
echo "Publish the tag: git push origin v$version"
