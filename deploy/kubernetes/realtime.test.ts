import t from 'tap'
import { build, cannotBuild, type Manifest } from './build.ts'

const PATH = '/api/mobile/v1/realtime'
const skip = cannotBuild

interface Ingress {
  metadata: { annotations: Record<string, string> }
  spec: { rules: { http: { paths: { path: string }[] } }[] }
}
interface Route {
  spec: { rules: { matches: { path: { value: string } }[], timeouts?: object, backendRefs: object[] }[] }
}
interface Deployment {
  spec: {
    template: {
      spec: {
        terminationGracePeriodSeconds: number,
        containers: {
          env?: { name: string, value?: string }[],
          lifecycle: { preStop: { sleep: { seconds: number } } }
        }[]
      }
    }
  }
}

const ofKind = (manifests: Manifest[], kind: string) =>
  manifests.filter((manifest) => manifest.kind === kind) as unknown[]

for (const [overlay, service] of [['production', 'gateway'], ['production-realtime', 'gateway-realtime']] as const) {
  t.test(`${overlay}: the Gateway does not time out realtime connections`, { skip }, async (t) => {
    const manifests = await build(`overlays/${overlay}`)
    t.same(ofKind(manifests, 'Ingress'), [])
    const [route] = ofKind(manifests, 'HTTPRoute') as Route[]
    const rule = route?.spec.rules.find(({ matches }) => matches[0]?.path.value === PATH)
    t.match(rule, { timeouts: { request: '0s' }, backendRefs: [{ name: service }] })
    const others = route?.spec.rules.find(({ matches }) => matches[0]?.path.value === '/')
    t.match(others, { timeouts: { request: '60s' }, backendRefs: [{ name: 'gateway' }] })
  })
}

t.test('an Ingress neither times them out nor buffers them, and no route of a Gateway is left', { skip }, async (t) => {
  const manifests = await build('overlays/production-ingress')
  t.same(ofKind(manifests, 'HTTPRoute'), [])
  const ingresses = ofKind(manifests, 'Ingress') as Ingress[]
  const found = ingresses.find(({ spec }) => spec.rules[0]?.http.paths[0]?.path === PATH)
  t.match(found?.metadata.annotations, {
    'nginx.ingress.kubernetes.io/proxy-read-timeout': '3600',
    'nginx.ingress.kubernetes.io/proxy-buffering': 'off'
  })
})

t.test('a pod has the time to move its connections', { skip }, async (t) => {
  const deployments = ofKind(await build('overlays/production-realtime'), 'Deployment') as Deployment[]
  const drains = deployments.flatMap(({ spec: { template: { spec } } }) =>
    spec.containers.flatMap(({ env = [], lifecycle }) => {
      const drain = env.find(({ name }) => name === 'REALTIME_DRAIN_SECONDS')
      return drain ? [spec.terminationGracePeriodSeconds - lifecycle.preStop.sleep.seconds - Number(drain.value)] : []
    })
  )
  t.equal(drains.length, 2)
  // What is left is the time in which every process closes.
  for (const seconds of drains) t.ok(seconds > 10, `${seconds} s`)
})
