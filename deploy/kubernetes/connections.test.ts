import t from 'tap'
import { serviceNames as services } from '../../gateway/routes.ts'
import { build, cannotBuild, type Manifest } from './build.ts'
import { listConnections } from './connections.ts'

// The DNS of the cluster, its cache on each node, and the DNS of OpenShift.
const dns = [
  '169.254.20.10/32:53',
  '169.254.20.10/32:53/UDP',
  'kube-system/k8s-app=kube-dns:53',
  'kube-system/k8s-app=kube-dns:53/UDP',
  'openshift-dns/dns.operator.openshift.io/daemonset-dns=default:5353',
  'openshift-dns/dns.operator.openshift.io/daemonset-dns=default:5353/UDP'
]

for (const overlay of ['local', 'production', 'production-ingress', 'production-console']) {
  const hasConsole = overlay === 'production-console'
  t.test(
    `network policies of the overlay ${overlay} allow exactly these connections`,
    { skip: cannotBuild },
    async (t) => {
      const manifests = await build(`overlays/${overlay}`)
      const addresses = overlay === 'local' ?
        {
          postgres: 'postgres:5432',
          nats: 'nats:4222',
          redis: 'redis:6379',
          smtp: ['mail:1025']
        } :
        {
          postgres: 'tandem-data/cnpg.io/cluster=postgres:5432',
          nats: 'tandem-data/app.kubernetes.io/component=nats,app.kubernetes.io/name=nats:4222',
          redis: '10.20.0.0/24:6379',
          smtp: ['0.0.0.0/0:465', '0.0.0.0/0:587']
        }
      const { postgres, nats, redis, smtp } = addresses
      const traces = 'monitoring/:4318'
      const internet = ['0.0.0.0/0:443', '::/0:443']
      const media = overlay === 'local' ? [] : internet
      const expected: Record<string, string[]> = {
        ...Object.fromEntries(services.map((name) => [name, [postgres, nats, traces]])),
        gateway: [...services.map((name) => `${name}:8080`), nats, redis, traces],
        identity: [postgres, nats, redis, ...smtp, ...internet, '0.0.0.0/0:80', '::/0:80', traces],
        profile: [postgres, nats, ...media, traces],
        social: [postgres, nats, ...media, traces],
        fitmatch: [postgres, nats, ...media, traces],
        dashboard: [postgres, nats, redis, traces],
        notification: [postgres, nats, redis, ...smtp, ...internet, traces],
        streams: [nats],
        ...hasConsole && { console: [...services.map((name) => `${name}:8080`), traces] },
        ...Object.fromEntries(services.map((name) => [`${name}-migration`, [postgres]]))
      }
      const connections = listConnections(manifests)
      for (const [name, to] of Object.entries(expected)) {
        t.same(connections.out[name], [...to, ...dns].sort(), `from ${name}`)
      }

      const entrance = overlay === 'local'
        ? []
        : [overlay === 'production-ingress' ? 'ingress-nginx/:8080' : 'gateways/:8080']
      t.same(connections.in.gateway, [...entrance, 'monitoring/:9090'].sort())
      const callers = [...hasConsole ? ['console:8080'] : [], 'gateway:8080', 'monitoring/:9090']
      for (const name of services) t.same(connections.in[name], callers, `to ${name}`)
      if (hasConsole) t.same(connections.in['console'], ['monitoring/:9090'])
      for (const name of services) t.same(connections.in[`${name}-migration`], [], `to the migration of ${name}`)
      t.same(connections.in['streams'], ['monitoring/:9090'])
      if (overlay === 'local') {
        const clientsOf = (server: string) => Object.keys(expected).filter((name) => expected[name]?.includes(server))
        t.same(connections.in.postgres, clientsOf('postgres:5432').map((name) => `${name}:5432`).sort())
        t.same(connections.in.nats, ['gateway', ...services, 'streams'].map((name) => `${name}:4222`).sort())
        t.same(connections.in.redis, clientsOf('redis:6379').map((name) => `${name}:6379`).sort())
        t.same(connections.in.mail, ['identity:1025', 'notification:1025'])
      }
    }
  )
}

t.test('network policies of the data namespace allow exactly these connections', { skip: cannotBuild }, async (t) => {
  const manifests = await build('overlays/production/data')
  t.match(manifests.find(({ kind }) => kind === 'Namespace'), {
    metadata: { name: 'tandem-data', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } }
  })
  // The operators create these pods, with these labels.
  const pod = (name: string, labels: Record<string, string>) =>
    ({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name },
      spec: { template: { metadata: { labels } } }
    }) as unknown as Manifest
  const connections = listConnections([
    ...manifests,
    pod('postgres', { 'cnpg.io/cluster': 'postgres' }),
    pod('nats', { 'app.kubernetes.io/name': 'nats', 'app.kubernetes.io/component': 'nats' }),
    pod('any', {})
  ])
  t.same(connections.in, {
    postgres: ['cnpg-system/:0', 'monitoring/:9187', 'postgres:0', 'tandem/tandem/reaches-postgres=yes:5432'],
    nats: ['monitoring/:7777', 'nats:0', 'tandem/tandem/reaches-nats=yes:4222'],
    any: []
  })
  t.same(connections.out, {
    postgres: ['0.0.0.0/0:443', '10.0.0.1/32:443', '10.0.0.1/32:6443', 'cnpg-system/:0', ...dns, 'postgres:0'].sort(),
    nats: [...dns, 'nats:0'].sort(),
    any: dns
  })
})
