#!/usr/bin/env bash
# Applies an overlay, or one of its services, to the current cluster of kubectl: migrations first, then processes.
#   deploy/kubernetes/roll-out.sh production            everything
#   deploy/kubernetes/roll-out.sh production social     only what the team of social owns
#   deploy/kubernetes/roll-out.sh release social        the version in deploy/release/records, by its digest
#   OVERLAY=production-ingress deploy/kubernetes/roll-out.sh release   in another overlay than production
set -euo pipefail
overlay=${1:?usage: roll-out.sh <overlay> [<service>]} service=${2:-}
folder=$(dirname "$0")/overlays/$overlay
kubectl=(kubectl --namespace tandem)
# What has the image of a service follows it.
case $service in
  gateway) mine='tandem/service in (gateway,console)' ;;
  identity) mine='tandem/service in (identity,streams)' ;;
  *) mine=${service:+tandem/service=$service} ;;
esac

# The overlay with the images of deploy/release/records.
write_release() {
  local production=$folder/../production/kustomization.yaml
  mkdir -p "$folder"
  {
    echo "# Written by roll-out.sh from deploy/release/records."
    echo "apiVersion: kustomize.config.k8s.io/v1beta1"
    echo "kind: Kustomization"
    echo "resources: [../${OVERLAY:-production}]"
    echo "images:"
    for record in "$folder"/../../../release/records/*.json; do
      local name image digest placeholder
      name=$(basename "$record" .json)
      image=$(sed -n 's/^  "image": "\(.*\)",\?$/\1/p' "$record")
      digest=$(sed -n 's/^  "digest": "\(.*\)",\?$/\1/p' "$record")
      placeholder=$(sed -n "s|.*{ name: tandem/$name, newName: \([^,]*\),.*|\1|p" "$production")
      echo "  - { name: $placeholder, newName: $image, digest: $digest }"
    done
  } > "$folder/kustomization.yaml"
}
[ "$overlay" != release ] || write_release

if [ -z "$service" ]; then
  # Servers, settings and network policies: everything that is not a process of Tandem.
  kubectl apply -k "$folder" --selector '!tandem/service'
  "${kubectl[@]}" wait pod --selector app.kubernetes.io/component=data --for=condition=Ready --timeout=300s \
    2>/dev/null || true
fi

migrations=app.kubernetes.io/component=migration${mine:+,$mine}
if [ "$service" != gateway ] && [ "$service" != streams ]; then
  # A Job cannot be changed, so the previous one is deleted first.
  "${kubectl[@]}" delete job --selector "$migrations" --ignore-not-found
  kubectl apply -k "$folder" --selector "$migrations"
  # For as long as they take: a Job ends by itself, at the latest at its activeDeadlineSeconds.
  failed='jsonpath={.items[*].status.conditions[?(@.type=="Failed")].reason}'
  until "${kubectl[@]}" wait job --selector "$migrations" --for=condition=Complete --timeout=15s 2>/dev/null; do
    reasons=$("${kubectl[@]}" get job --selector "$migrations" --output "$failed")
    # Deleted by somebody else, and nothing would ever complete.
    [ -n "$("${kubectl[@]}" get job --selector "$migrations" --output name)" ] || reasons="there is no Job"
    if [ -n "$reasons" ]; then
      "${kubectl[@]}" logs --selector "$migrations" --tail=20 --prefix || true
      echo "The schema is not up to date ($reasons); the processes were left as they are." >&2
      exit 1
    fi
    # A pod that waits for its image, or for room, waits until the deadline of its Job.
    echo "Migrations are running:"
    "${kubectl[@]}" get pod --selector "$migrations" --no-headers
    sleep 1
  done
fi

kubectl apply -k "$folder" --selector "${mine:-tandem/service},app.kubernetes.io/component!=migration"
# An autoscaler leaves a Deployment at 0 alone, and a rollout of no replicas succeeds: nothing would run.
stopped='jsonpath={range .items[?(@.spec.replicas==0)]}{.metadata.name}{" "}{end}'
for deployment in $("${kubectl[@]}" get deployment --selector "${mine:-tandem/service}" --output "$stopped"); do
  "${kubectl[@]}" scale deployment "$deployment" --replicas=2
done
"${kubectl[@]}" rollout status deployment --selector "${mine:-tandem/service}" --timeout=600s
