import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseEnv } from 'node:util'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import type { TObject } from 'typebox'
import { readConfig } from '@tandem/process-kit'
import { environment } from '../../gateway/config.ts'
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

t.test('every service has a version of its own, and an operator can pin every image by its digest', (t) => {
  const dockerfile = readFileSync(path.join(root, 'deploy/docker/Dockerfile'), 'utf8')
  const base = /^ARG NODE_IMAGE=(.+)$/m.exec(dockerfile)?.[1]
  t.same([...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image), ['${NODE_IMAGE}', '${NODE_IMAGE}'])
  for (const [name, { image, build }] of all) {
    const [, ours] = /^\$\{TANDEM_REGISTRY:-\}tandem\/(\w+):/.exec(image) ?? []
    if (ours) {
      t.equal(image, `\${TANDEM_REGISTRY:-}tandem/${ours}:\${TANDEM_${ours.toUpperCase()}_VERSION:-local}`, name)
    } else t.match(image, /^\$\{[A-Z]+_IMAGE:-[\w/.-]+:[\w.-]+\}$/, name)
    if (build) t.equal(build.args['NODE_IMAGE'], `\${NODE_IMAGE:-${base}}`, name)
  }
  t.end()
})

t.test('the documents build the images before they start them, as some containers only use the image of another', (t) => {
  t.ok(all.some(([, { image, build }]) => image.includes('tandem/') && !build))
  for (const file of ['README.md', 'docker-compose.yml', 'docs/operations.md']) {
    const documented = readFileSync(path.join(root, file), 'utf8')
    t.ok(documented.includes('docker compose build'), file)
    t.notOk(/docker compose [^`\n]*up [^`\n]*--build/.test(documented), file)
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

t.test('a secret is a file that only its container sees, and make-env.sh writes each of them', (t) => {
  const { secrets, env } = makeEnvironment(t)
  const files = new Set<string>()
  for (const [name, { environment = {}, volumes = [] }] of all) {
    const mounted = volumes.filter((volume) => volume.includes('/run/secrets'))
    const isMounted = mounted[0] === `\${SECRETS_DIR:-./.secrets}/${name}:/run/secrets:ro`
    t.ok(mounted.length === 0 || mounted.length === 1 && isMounted, name)
    for (const [variable, value] of Object.entries(environment).filter(([key]) => !key.startsWith('LIMIT_'))) {
      t.notMatch(
        variable,
        /PASSWORD$|SECRET$|PRIVATE_KEY$|ACCESS_KEY(_ID)?$|SIGNING_KEY$|TOKEN$|^HOOKS$|(DATABASE|NATS|REDIS|SMTP)_URL$/,
        name
      )
      const file = /^\/run\/secrets\/(\w+)$/.exec(value)?.[1]
      if (!file) continue
      t.match(variable, /_FILE$/)
      t.ok(isMounted, `${name} sees its secrets`)
      t.ok(secrets.has(`${name}/${file}`), `${name}/${file}`)
      files.add(`${name}/${file}`)
    }
  }
  // NATS and Redis read every file of their folder.
  const unused = [...secrets.keys()].filter((file) => !files.has(file) && !/^(nats|redis)\//.test(file))
  t.strictSame(unused, [])
  for (const [, variable = ''] of text.matchAll(/\$\{(\w+)(?::\?[^}]*)?\}/g)) t.ok(env[variable], variable)
  t.end()
})

t.test('secrets are different, kept, and taken from an older .env', (t) => {
  const { secrets, again } = makeEnvironment(t)
  const own = [...secrets].filter(([file]) => /PASSWORD$|SECRET$|PRIVATE_KEY$/.test(file)).map(([, value]) => value)
  const set = own.filter((value, index) => value !== '' && own.indexOf(value) === index)
  // That of Postgres is also the one of backups, and not every secret has a value.
  t.equal(set.length, own.filter(Boolean).length - 1)
  t.strictSame(again(), secrets)
  const older = makeEnvironment(
    t,
    'POSTGRES_PASSWORD=old-1\nIDENTITY_SECRET=old-2\nIDENTITY_DB_PASSWORD=old-3\nIDENTITY_ROOT_PRIVATE_KEY=old-4\nNATS_SOCIAL_PASSWORD=old-5\n'
  )
  t.strictSame(
    [
      'postgres/POSTGRES_PASSWORD',
      'identity/SECRET',
      'identity-migration/DATABASE_URL',
      'identity/IDENTITY_ROOT_PRIVATE_KEY',
      'social/NATS_URL'
    ].map((file) => older.secrets.get(file)),
    [
      'old-1',
      'old-2',
      'postgres://tandem_identity:old-3@postgres:5432/postgres',
      'old-4',
      'nats://social:old-5@nats:4222'
    ]
  )
  t.end()
})

t.test('secrets are added in the folder that .env names', (t) => {
  const { place, again } = makeEnvironment(t)
  renameSync(path.join(place, '.secrets'), path.join(place, 'keys'))
  const env = readFileSync(path.join(place, '.env'), 'utf8')
  writeFileSync(path.join(place, '.env'), env.replace(/^SECRETS_DIR=.*$/m, 'SECRETS_DIR=./keys'))
  rmSync(path.join(place, 'keys/identity/HOOKS'))
  t.equal(again().size, 0)
  t.ok(existsSync(path.join(place, 'keys/identity/HOOKS')))
  t.end()
})

t.test('the settings of each process are valid with its secrets, as its own user on each server', async (t) => {
  const { secrets, env } = makeEnvironment(t)
  const valueOf = (text: string) =>
    text.replaceAll(/\$\{(\w+)(?::-([^}]*)|:\?[^}]*)?\}/g, (_, name: string, given = '') => env[name] || given)
  for (const name of names) {
    const environment = Object.entries(services[name]?.environment ?? {}).map(([variable, value]) => {
      const file = /^\/run\/secrets\/(\w+)$/.exec(value)?.[1]
      return file && variable.endsWith('_FILE')
        ? [variable.slice(0, -'_FILE'.length), secrets.get(`${name}/${file}`)]
        : [variable, valueOf(String(value))]
    })
    const { Config } = await import(`../../services/${name}/config.ts`) as { Config: TObject }
    const config = readConfig(Config, { PORT: '8080', ...Object.fromEntries(environment) })
    t.match(config, { DATABASE_URL: `//tandem_${name}:`, NATS_URL: `//${name}:` }, name)
    if ('REDIS_URL' in config) t.match(config['REDIS_URL'], `//${name}:`)
  }
  for (const name of ['gateway', 'streams']) t.match(secrets.get(`${name}/NATS_URL`), `//${name}:`)
  t.strictSame([...secrets.keys()].filter((file) => file.endsWith('/REDIS_URL')).sort(), [
    'dashboard/REDIS_URL',
    'gateway/REDIS_URL',
    'identity/REDIS_URL',
    'notification/REDIS_URL'
  ])
  t.strictSame(
    [...secrets.keys()].filter((file) => file.includes('IDENTITY_ROOT')),
    ['identity/IDENTITY_ROOT_PRIVATE_KEY'],
    'only identity has the root key'
  )
  t.same(services['streams']?.command?.slice(2), names)
  t.end()
})

/** What make-env.sh writes. @param older a part of an .env that exists already */
function makeEnvironment (t: Test, older?: string) {
  const place = mkdtempSync(path.join(tmpdir(), 'tandem-env-'))
  t.teardown(() => rmSync(place, { recursive: true, force: true }))
  mkdirSync(path.join(place, 'deploy/docker'), { recursive: true })
  for (const file of ['.env.example', 'deploy/docker/make-env.sh', 'deploy/docker/root-key.sh']) {
    copyFileSync(path.join(root, file), path.join(place, file))
  }
  for (const name of names) {
    mkdirSync(path.join(place, 'services', name), { recursive: true })
    writeFileSync(path.join(place, 'services', name, 'main.ts'), '')
  }
  if (older) writeFileSync(path.join(place, '.env'), older)
  const folder = path.join(place, '.secrets')
  const run = () => {
    execFileSync(path.join(place, 'deploy/docker/make-env.sh'))
    return new Map(
      globSync('*/*', { cwd: folder }).sort().map((
        file
      ) => [file, readFileSync(path.join(folder, file), 'utf8').trim()])
    )
  }
  return { place, secrets: run(), again: run, env: parseEnv(readFileSync(path.join(place, '.env'), 'utf8')) }
}

t.test('a local cluster gets the same secrets on no command line, also after it got some of them', (t) => {
  const { place, secrets } = makeEnvironment(t)
  const script = 'deploy/kubernetes/overlays/local/make-secrets.sh'
  mkdirSync(path.join(place, path.dirname(script)), { recursive: true })
  copyFileSync(path.join(root, script), path.join(place, script))
  // In place of kubectl: a Secret is a file, and the third one cannot be created at first.
  const kubectl = `#!/bin/bash
cd "${place}"
echo "$*" >> calls
case $3 in
  get) [ -e "created-$5" ];;
  create)
    [ "$(grep -c ' create ' calls)" != 3 ] || exit 1
    name=\${@:$#-2:1}
    case $4 in secret) cat "\${@: -1}" > "created-$name";; configmap) echo "\${@: -1}" > "created-$name";; esac;;
esac
`
  mkdirSync(path.join(place, 'bin'))
  writeFileSync(path.join(place, 'bin/kubectl'), kubectl, { mode: 0o755 })
  const run = () => execFileSync(path.join(place, script), { env: { PATH: `${place}/bin:${process.env['PATH']}` } })
  t.throws(run)
  run()
  const read = (name: string) => ({ ...parseEnv(readFileSync(path.join(place, `created-${name}`), 'utf8')) })
  for (const name of [...names, 'gateway', 'streams', 'nats', 'redis']) {
    const own = [...secrets].filter(([file]) => path.dirname(file) === name)
    t.strictSame(read(name), Object.fromEntries(own.map(([file, value]) => [path.basename(file), value])), name)
  }
  t.equal(read('data')['POSTGRES_PASSWORD'], secrets.get('postgres/POSTGRES_PASSWORD'))
  t.match(read('database-admin')['ADMIN_DATABASE_URL'], secrets.get('postgres/POSTGRES_PASSWORD'))
  t.match(readFileSync(path.join(place, 'created-identity-root'), 'utf8'), /IDENTITY_ROOT_PUBLIC_KEYS=./)
  const calls = readFileSync(path.join(place, 'calls'), 'utf8')
  for (const [file, value] of secrets) t.notOk(value && calls.includes(value), file)
  t.end()
})

t.test('the console is on this machine only, and knows no secret', (t) => {
  const { environment = {}, ports, image } = services['console']!
  t.match(ports, [/^127\.0\.0\.1:/])
  t.equal(ports?.length, 1)
  t.equal(image, services['gateway']?.image, 'the same image')
  t.notMatch(Object.keys(environment).join(' '), /PASSWORD|SECRET|KEY|DATABASE|REDIS|NATS/)
  t.match(
    readConsoleConfig({
      ...environment,
      LOG_LEVEL: 'info',
      MAX_EVENT_LOOP_DELAY_MS: '',
      TRUST_PROXY: '',
      CONSOLE_URL: '',
      CONSOLE_ALLOW: ''
    }),
    { origin: 'http://localhost:8090', upstreams: { identity: 'http://identity:8080' } }
  )
  t.end()
})

t.test('NATS and Redis receive the password of each of their users, and every mounted file exists', (t) => {
  const folder = 'deploy/kubernetes/components'
  const { secrets } = makeEnvironment(t)
  for (
    const [name, file] of Object.entries({
      nats: `${folder}/nats-rights/rights.conf`,
      redis: `${folder}/redis-users/users.acl`
    })
  ) {
    const wanted = [...readFileSync(path.join(root, file), 'utf8').matchAll(/\$(\w+_PASSWORD)/g)].map(([, variable]) =>
      String(variable)
    )
    const written = [...secrets.keys()].flatMap((file) =>
      file.startsWith(`${name}/`) ? file.slice(name.length + 1) : []
    )
    t.same(written.sort(), wanted.sort(), name)
  }
  for (const [, { volumes = [] }] of all) {
    for (const [, source = ''] of volumes.flatMap((volume) => [/^\.\/([^:]+):/.exec(volume) ?? []])) {
      if (source) t.ok(existsSync(path.join(root, source)), source)
    }
  }
  t.end()
})

t.test('each setting of a process can be set in .env, or is a secret', async (t) => {
  // These are the same in every deployment of this file, or belong to tests and other deployments.
  const fixed = new Set(['HOST', 'PORT', 'METRICS_PORT', 'NODE_ENV', 'LIMIT_PROFILE'])
  for (const name of [...names, 'gateway']) {
    const { Config } = name === 'gateway'
      ? { Config: environment }
      : await import(`../../services/${name}/config.ts`) as { Config: TObject }
    const given = services[name]?.environment ?? {}
    const missing = Object.keys(Config.properties).filter((variable) =>
      !fixed.has(variable) && !(variable in given) && !(`${variable}_FILE` in given)
    )
    t.strictSame(missing, [], name)
  }
})

t.test('.env.example has each setting that compose reads, and no other', (t) => {
  const example = parseEnv(readFileSync(path.join(root, '.env.example'), 'utf8'))
  const read = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name))
  t.strictSame(new Set(Object.keys(example)), read)
  t.end()
})

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
