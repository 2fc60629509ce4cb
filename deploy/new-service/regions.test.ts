import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import * as contracts from '@tandem/contracts'
import type { EventDefinition, RpcDefinition } from '@tandem/contracts'
import { readMessaging } from '@tandem/nats/messaging.ts'
import { serviceNames } from '../../gateway/routes.ts'
import { generateRegions } from './regions.ts'

const root = path.resolve(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')

t.test('the services are the ones in the table of the gateway', (t) => {
  const folders = globSync('services/*/main.ts', { cwd: root }).map((file) => path.basename(path.dirname(file)))
  t.same([...serviceNames].sort(), folders.sort(), 'gateway/routes.ts has the prefixes of each folder below services/')
  t.end()
})

t.test('every file that names all services is up to date', (t) => {
  for (const [file, content] of generateRegions(root)) {
    t.equal(read(file) === content, true, `${file} is what "npm run contracts" writes`)
  }
  t.end()
})

const headings = [
  'Owns',
  'Serves',
  'Publishes',
  'Consumes',
  'Provides',
  'Calls',
  'Guarantees',
  'Surprises',
  'Configuration'
]
const mayBeMissing = ['Publishes', 'Consumes', 'Provides', 'Calls']

t.test('every service has a manifest, a version in production and the headings of a README', (t) => {
  const production = read('deploy/kubernetes/overlays/production/kustomization.yaml')
  for (const name of serviceNames) {
    t.ok(existsSync(path.join(root, `deploy/kubernetes/base/${name}/kustomization.yaml`)), name)
    t.match(production, `name: tandem/${name},`, `overlays/production has an image of ${name}`)
    const found = [...read(`services/${name}/README.md`).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading ?? '')
    t.same(found, headings.filter((heading) => found.includes(heading)), `the order of services/${name}/README.md`)
    t.same(headings.filter((heading) => !found.includes(heading) && !mayBeMissing.includes(heading)), [], name)
  }
  t.end()
})

t.test('the README of a service names each event and RPC that it publishes, consumes, provides or calls', (t) => {
  const definitions = Object.entries<unknown>(contracts).flatMap(([name, definition]) =>
    isDefinition(definition) ? [{ name, definition }] : []
  )
  // What every service publishes or consumes through it is in the README of account-kit alone.
  const shared = read('packages/account-kit/README.md')
  const isShared = (type: string) =>
    shared.includes(`\`${type}\``) || shared.includes(type.replace(/^\w+/, '<service>'))
  for (const { service, consumes, calls } of readMessaging(root)) {
    const readme = read(`services/${service}/README.md`)
    const used = new Set<unknown>([...consumes, ...calls.filter((rpc) => rpc !== contracts.SigningKeys)])
    const missing = definitions.filter(({ name, definition }) =>
      (definition.service === service || used.has(definition)) &&
      !isShared(definition.type) && !readme.includes(definition.type) && !readme.includes(name)
    )
    t.same(
      missing.map(({ definition }) => definition.type),
      [],
      `services/${service}/README.md names each of its events and RPCs`
    )
  }
  t.end()
})

function isDefinition (value: unknown): value is EventDefinition | RpcDefinition {
  return typeof value === 'object' && value !== null && 'service' in value && 'type' in value
}
