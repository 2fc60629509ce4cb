import type { Manifest } from './build.ts'

interface Selector {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string, operator: string, values: string[] }[]
}
interface Peer {
  podSelector?: Selector
  namespaceSelector?: Selector
  ipBlock?: { cidr: string }
}
interface Port {
  port: number
  protocol?: string
}
interface Policy {
  podSelector: Selector
  policyTypes: string[]
  ingress?: { from: Peer[], ports?: Port[] }[]
  egress?: { to: Peer[], ports?: Port[] }[]
}
interface Pod {
  name: string
  labels: Record<string, string>
}

function matches ({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Record<string, string>) {
  return Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values }) => {
      if (operator !== 'In') throw new Error(`${operator} is not supported here`)
      return values.includes(labels[key] ?? '')
    })
}

/** Names the peers: pods of this namespace by name, others by namespace and labels, addresses as they are. */
function namePeers ({ podSelector, namespaceSelector, ipBlock }: Peer, pods: Pod[]): string[] {
  if (ipBlock) return [ipBlock.cidr]
  if (!namespaceSelector) return pods.filter(({ labels }) => matches(podSelector ?? {}, labels)).map(({ name }) => name)
  const labels = Object.entries(podSelector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`).sort().join(
    ','
  )
  return [`${namespaceSelector.matchLabels?.['kubernetes.io/metadata.name']}/${labels}`]
}

/**
 * Lists the connections that the network policies allow, by the name of the pod: outgoing and incoming.
 * @throws for a pod that no policy restricts
 */
export function listConnections (manifests: Manifest[]) {
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec as unknown as Policy)
  const pods: Pod[] = manifests.flatMap(({ kind, metadata, spec }) => {
    if (!['Deployment', 'Job', 'StatefulSet'].includes(kind)) return []
    const { template } = spec as unknown as { template: { metadata: { labels: Record<string, string> } } }
    return [{ name: metadata.name, labels: template.metadata.labels }]
  })

  const list = (direction: 'ingress' | 'egress', { name, labels }: Pod) => {
    const applicable = policies.filter(({ podSelector, policyTypes }) =>
      policyTypes.some((type) => type.toLowerCase() === direction) && matches(podSelector, labels)
    )
    if (applicable.length === 0) throw new Error(`no policy restricts the ${direction} of ${name}`)
    const connections = applicable.flatMap((policy) =>
      (policy[direction] ?? []).flatMap((rule) => {
        const peers = 'from' in rule ? rule.from : rule.to
        const ports = rule.ports ?? [{ port: 0 }]
        return peers.flatMap((peer) => namePeers(peer, pods)).flatMap((peer) =>
          ports.map(({ port, protocol = 'TCP' }) => `${peer}:${port}${protocol === 'TCP' ? '' : `/${protocol}`}`)
        )
      })
    )
    return [...new Set(connections)].sort()
  }
  return {
    in: Object.fromEntries(pods.map((pod) => [pod.name, list('ingress', pod)])),
    out: Object.fromEntries(pods.map((pod) => [pod.name, list('egress', pod)]))
  }
}
