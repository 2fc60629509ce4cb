import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseEnv } from 'node:util'
import t from 'tap'
import { parse } from 'yaml'
import type { TObject } from 'typebox'
import { readGatewayConfig } from '../../gateway/config.ts'
import { readConsoleConfig } from '../../gateway/console/config.ts'
import { serviceNames } from '../../gateway/routes.ts'

interface Container {
  image: string
  build?: { args: Record<string, string> }
  command?: string[]
  entrypoint?: string[]
  environment?: Record<string, string>
  read_only?: boolean
  cap_drop?: string[]
  cap_add?: string[]
  security_opt?: string[]
  pids_limit?: number
  logging?: { options: Record<string, string> }
  profiles?: string[]
  ports?: string[]
  volumes?: string[]
  healthcheck?: { test?: string[] }
}

const root = path.resolve(import.meta.dirname, '../..')
const text = readFileSync(path.join(root, 'docker-compose.yml'), 'utf8')
const { services } = parse(text, { merge: true }) as { services: Record<string, Container> }
const all = Object.entries(services)
const names = serviceNames

t.test('every container is read-only, has no capabilities, and cannot gain privileges', (t) => {
  for (const [name, container] of all) {
    t.match(container, {
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      pids_limit: Number
    }, name)
    // Postgres changes the owner of its folder, and the program of Caddy has the right to listen on port 443.
    if (!['postgres', 'caddy'].includes(name)) t.notOk(container.cap_add, name)
    t.match(container.logging, { options: { 'max-size': String } }, `the log of ${name} is rotated`)
  }
  t.end()
})

t.test('an operator can pin every image by its digest', (t) => {
  const dockerfile = readFileSync(path.join(root, 'deploy/docker/Dockerfile'), 'utf8')
  const base = /^ARG NODE_IMAGE=(.+)$/m.exec(dockerfile)?.[1]
  t.same([...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image), ['${NODE_IMAGE}', '${NODE_IMAGE}'])
  for (const [name, { image, build }] of all) {
    t.match(
      image,
      image.startsWith('tandem/') ? /:\$\{TANDEM_VERSION:-local\}$/ : /^\$\{[A-Z]+_IMAGE:-[\w/.-]+:[\w.-]+\}$/,
      name
    )
    if (build) t.equal(build.args['NODE_IMAGE'], `\${NODE_IMAGE:-${base}}`, name)
  }
  t.end()
})

t.test('no secret is on a command line', (t) => {
  for (const [name, { command = [], entrypoint = [], healthcheck }] of all) {
    // The container expands $$; Compose expands $ and would put the value on the command line.
    t.notMatch([...command, ...entrypoint, ...healthcheck?.test ?? []].join(' ').replaceAll('$$', ''), /\$/, name)
  }
  t.end()
})

t.test('each process has its own user on the servers that it needs, and no other', (t) => {
  for (const name of [...names, 'gateway', 'streams']) {
    const { NATS_URL = '', REDIS_URL = '' } = services[name]?.environment ?? {}
    t.equal(NATS_URL.split(':')[1], `//${name}`, name)
    t.equal(
      REDIS_URL.split(':')[1],
      ['gateway', 'identity', 'dashboard', 'notification'].includes(name) ? `//${name}` : undefined,
      name
    )
  }
  const holders = all.filter(([, { environment = {} }]) => 'IDENTITY_ROOT_PRIVATE_KEY' in environment).map(([name]) =>
    name
  )
  t.same(holders, ['identity'], 'only identity has the root key')
  t.same(services['streams']?.command?.slice(2), names)
  t.end()
})

t.test('the console is on this machine only, and knows no secret', (t) => {
  const { environment = {}, ports, image } = services['console']!
  t.match(ports, [/^127\.0\.0\.1:/])
  t.equal(ports?.length, 1)
  t.equal(image, services['gateway']?.image, 'the same image')
  t.notMatch(Object.keys(environment).join(' '), /PASSWORD|SECRET|KEY|DATABASE|REDIS|NATS/)
  t.match(
    readConsoleConfig({ ...environment, LOG_LEVEL: 'info', TRUST_PROXY: '', CONSOLE_URL: '', CONSOLE_ALLOW: '' }),
    { origin: 'http://localhost:8090', upstreams: { identity: 'http://identity:8080' } }
  )
  t.end()
})

t.test('NATS and Redis receive the password of each of their users, and every mounted file exists', (t) => {
  const folder = 'deploy/kubernetes/components'
  for (
    const [name, file] of Object.entries({
      nats: `${folder}/nats-rights/rights.conf`,
      redis: `${folder}/redis-users/users.acl`
    })
  ) {
    const wanted = [...readFileSync(path.join(root, file), 'utf8').matchAll(/\$(\w+_PASSWORD)/g)].map(([, variable]) =>
      String(variable)
    )
    t.same(Object.keys(services[name]?.environment ?? {}).sort(), wanted.sort(), name)
  }
  for (const [, { volumes = [] }] of all) {
    for (const [, source = ''] of volumes.flatMap((volume) => [/^\.\/([^:]+):/.exec(volume) ?? []])) {
      if (source) t.ok(existsSync(path.join(root, source)), source)
    }
  }
  t.end()
})

t.test('make-env.sh writes every variable that is needed, and each secret is different', (t) => {
  const place = mkdtempSync(path.join(tmpdir(), 'tandem-env-'))
  t.teardown(() => rmSync(place, { recursive: true, force: true }))
  mkdirSync(path.join(place, 'deploy/docker'), { recursive: true })
  for (const file of ['.env.example', 'deploy/docker/make-env.sh', 'deploy/docker/root-key.sh']) {
    copyFileSync(path.join(root, file), path.join(place, file))
  }
  execFileSync(path.join(place, 'deploy/docker/make-env.sh'))
  const env = parseEnv(readFileSync(path.join(place, '.env'), 'utf8'))
  for (const [, variable = ''] of text.matchAll(/\$\{(\w+)(?::\?[^}]*)?\}/g)) t.ok(env[variable], variable)
  const secrets = Object.entries(env).filter(([name]) =>
    /PASSWORD$|SECRET$|PRIVATE_KEY$/.test(name) && !name.startsWith('S3_')
  ).map(([, value]) => value)
  t.equal(new Set(secrets).size, secrets.length)
  t.end()
})

t.test('each setting of a process can be set in .env', async (t) => {
  // These are the same in every deployment of this file, or belong to tests and other deployments.
  const fixed = new Set(['HOST', 'PORT', 'METRICS_PORT', 'NODE_ENV', 'LIMIT_PROFILE'])
  for (const name of names) {
    const { Config } = await import(`../../services/${name}/config.ts`) as { Config: TObject }
    const given = services[name]?.environment ?? {}
    const missing = Object.keys(Config.properties).filter((variable) => !fixed.has(variable) && !(variable in given))
    t.strictSame(missing, [], name)
  }
  const { limits } = readUnknownLimit()
  for (const limit of limits) t.ok(limit in (services['gateway']?.environment ?? {}), limit)
})

/** The names of all limits, from the error of a wrong one. */
function readUnknownLimit () {
  try {
    readGatewayConfig({ LIMIT_UNKNOWN: '1/1m' })
  } catch (error) {
    return { limits: [...String((error as Error).message).matchAll(/LIMIT_[A-Z_]+/g)].map(([limit]) => limit).slice(1) }
  }
  throw new Error('LIMIT_UNKNOWN was accepted')
}

t.test('the optional parts are in profiles, and every process is scraped', (t) => {
  const byProfile = Object.groupBy(
    all.filter(([, { profiles }]) => profiles),
    ([, { profiles }]) => profiles?.[0] ?? ''
  )
  t.strictSame(Object.keys(byProfile).sort(), ['backups', 'console', 'mail', 'monitoring', 'tls'])
  const scraped = readFileSync(path.join(root, 'deploy/docker/monitoring/prometheus.yml'), 'utf8')
  for (const name of [...names, 'gateway', 'streams']) t.match(scraped, `targets: ["${name}:9090"]`)
  t.end()
})
