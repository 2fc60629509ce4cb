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
      if (operator !== 'In') throw new Error(`${operator} is not understood`)
      return values.includes(labels[key] ?? '')
    })
}

/** A pod of the same namespace by its name, one of another by namespace and labels, an address as it is. */
function namesOf ({ podSelector, namespaceSelector, ipBlock }: Peer, pods: Pod[]): string[] {
  if (ipBlock) return [ipBlock.cidr]
  if (!namespaceSelector) return pods.filter(({ labels }) => matches(podSelector ?? {}, labels)).map(({ name }) => name)
  const labels = Object.entries(podSelector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`).sort().join(
    ','
  )
  return [`${namespaceSelector.matchLabels?.['kubernetes.io/metadata.name']}/${labels}`]
}

/**
 * What the network policies let through: for each kind of pod where it may call, and who may call it.
 * @throws for a pod that no policy closes
 */
export function listWays (manifests: Manifest[]) {
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec as unknown as Policy)
  const pods: Pod[] = manifests.flatMap(({ kind, metadata, spec }) => {
    if (!['Deployment', 'Job', 'StatefulSet'].includes(kind)) return []
    const { template } = spec as unknown as { template: { metadata: { labels: Record<string, string> } } }
    return [{ name: metadata.name, labels: template.metadata.labels }]
  })

  const list = (direction: 'ingress' | 'egress', { name, labels }: Pod) => {
    const concerned = policies.filter(({ podSelector, policyTypes }) =>
      policyTypes.some((type) => type.toLowerCase() === direction) && matches(podSelector, labels)
    )
    if (concerned.length === 0) throw new Error(`${name} is open: no policy is about its ${direction}`)
    const found = concerned.flatMap((policy) =>
      (policy[direction] ?? []).flatMap((rule) => {
        const peers = 'from' in rule ? rule.from : rule.to
        const ports = rule.ports ?? [{ port: 0 }]
        return peers.flatMap((peer) => namesOf(peer, pods)).flatMap((peer) =>
          ports.map(({ port, protocol = 'TCP' }) => `${peer}:${port}${protocol === 'TCP' ? '' : `/${protocol}`}`)
        )
      })
    )
    return [...new Set(found)].sort()
  }
  return {
    in: Object.fromEntries(pods.map((pod) => [pod.name, list('ingress', pod)])),
    out: Object.fromEntries(pods.map((pod) => [pod.name, list('egress', pod)]))
  }
}
