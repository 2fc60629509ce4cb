import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t from 'tap'

const root = path.resolve(import.meta.dirname, '../..')

// No package is named @tandem/bookings: a service that does not exist yet is forbidden too.
const forbidden = [
  ['packages/contracts/posts.ts', '@tandem/process-kit'],
  ['packages/contracts/posts.ts', 'kysely'],
  ['packages/process-kit/run.ts', '@tandem/contracts'],
  ['packages/process-kit/run.ts', '@tandem/http-kit'],
  ['packages/http-kit/server.ts', '@tandem/bus-kit'],
  ['packages/http-kit/server.ts', 'nats'],
  ['packages/bus-kit/relay.ts', '@tandem/http-kit'],
  ['packages/bus-kit/relay.ts', '@tandem/service-kit'],
  ['packages/queue-kit/queue.ts', '@tandem/bus-kit'],
  ['packages/service-kit/run-service.ts', '@tandem/mail-kit'],
  ['packages/bus-kit/relay.ts', '@tandem/test-kit'],
  ['packages/bus-kit/relay.ts', 'bullmq'],
  ['packages/mail-kit/mailer.ts', '@tandem/bus-kit'],
  ['packages/mail-kit/mailer.ts', 'sharp'],
  ['packages/queue-kit/queue.ts', 'nodemailer'],
  ['packages/database-kit/connect.ts', '@tandem/test-kit'],
  ['packages/media-kit/images.ts', '../http-kit/server.ts'],
  ['packages/media-url-kit/index.ts', '@tandem/media-kit'],
  ['gateway/proxy/forward.ts', '@tandem/bus-kit'],
  ['gateway/pages/media.ts', '@tandem/media-kit'],
  ['gateway/proxy/forward.ts', '@tandem/service-kit'],
  ['gateway/proxy/forward.ts', 'kysely'],
  ['gateway/main.ts', '../services/identity/keys/tokens.ts'],
  ['gateway/proxy/forward.ts', '../../services/identity/keys/tokens.ts'],
  ['gateway/app.ts', './console/app.ts'],
  ['gateway/console/app.ts', '../routes.ts'],
  ['gateway/console/app.ts', '@tandem/contracts'],
  ['gateway/console/pages/queue.ts', '../../routes.ts'],
  ['services/social/app.ts', '@tandem/notification'],
  ['services/social/app.ts', '@tandem/notification/tables.ts'],
  ['services/social/app.ts', './config.ts'],
  ['services/social/app.ts', '../identity/app.ts'],
  ['services/social/likes/routes.ts', 'bullmq'],
  ['services/social/likes/routes.ts', 'nodemailer'],
  ['services/social/likes/routes.ts', 'aws4fetch'],
  ['services/social/likes/routes.ts', '@tandem/http-kit/testing'],
  ['services/social/likes/routes.ts', '../comments/routes.ts'],
  ['services/social/likes/routes.ts', '../config.ts'],
  ['services/social/likes/actions.ts', 'fastify'],
  ['services/social/likes/actions.ts', './routes.ts'],
  ['services/social/likes/queries.ts', '@fastify/jwt'],
  ['packages/bus-kit/relay.ts', '@tandem/bookings'],
  ['gateway/proxy/forward.ts', '@tandem/bookings'],
  ['gateway/proxy/forward.ts', '@tandem/http-kit/testing'],
  ['services/social/app.ts', '@tandem/bookings'],
  ['services/social/likes/likes.test.ts', '@tandem/bookings/tables.ts'],
  ['services/social/likes/likes.test.ts', '@tandem/profile'],
  ['services/social/likes/likes.test.ts', '@tandem/profile/people/actions.ts']
]

const allowed = [
  ['packages/bus-kit/relay.ts', 'nats'],
  ['packages/bus-kit/relay.ts', '@tandem/contracts'],
  ['packages/mail-kit/mailer.ts', '@tandem/queue-kit'],
  ['packages/queue-kit/queue.ts', 'bullmq'],
  ['packages/media-kit/images.ts', 'sharp'],
  ['packages/media-kit/media.ts', '@tandem/http-kit'],
  ['packages/http-kit/server.ts', '@tandem/process-kit'],
  ['packages/http-kit/server.ts', '@tandem/contracts'],
  ['packages/service-kit/run-service.ts', '@tandem/bus-kit'],
  ['gateway/proxy/forward.ts', '@tandem/http-kit'],
  ['gateway/realtime/routes.ts', '@tandem/bus-kit/realtime'],
  ['gateway/proxy/forward.ts', '@tandem/process-kit'],
  ['gateway/console/pages/queue.ts', '../visits.ts'],
  ['services/social/main.ts', './config.ts'],
  ['services/social/likes/routes.ts', '../comments/queries.ts'],
  ['services/social/likes/routes.ts', '@tandem/bus-kit'],
  ['services/social/likes/likes.test.ts', '@tandem/http-kit/testing'],
  ['services/social/likes/likes.test.ts', '@tandem/contracts/samples'],
  ['services/social/test/app.ts', '@tandem/test-kit'],
  ['gateway/proxy/forward.ts', '../config.ts']
]

t.test('lint rejects forbidden imports', async (t) => {
  const reported = lint(forbidden)
  for (const [file = '', name = ''] of forbidden) {
    t.ok(reported.has(`${file} ${name}`), `${file} may not import ${name}`)
  }
})

t.test('lint allows permitted imports', async (t) => {
  t.strictSame([...lint(allowed)], [])
})

interface Diagnostic {
  code: string
  filename: string
  labels: { span: { line: number } }[]
}

/** Returns those of these imports, as `file name`, that lint rejects. */
function lint (imports: string[][]) {
  const folder = mkdtempSync(path.join(tmpdir(), 'tandem-lint-'))
  try {
    // The rules of imports need no types, which would have to be found from the temporary folder.
    writeFileSync(
      path.join(folder, '.oxlintrc.json'),
      readFileSync(path.join(root, '.oxlintrc.json'), 'utf8').replace('"typeAware": true', '"typeAware": false')
    )
    const names = Map.groupBy(imports, ([file]) => file ?? '')
    for (const [file, each] of names) {
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
      writeFileSync(path.join(folder, file), each.map(([, name]) => `import '${name}'\n`).join(''))
    }
    // tap has every Node process load its own modules, which the linter's cannot.
    const { stdout, stderr } = spawnSync('env', [
      '-u',
      'NODE_OPTIONS',
      path.join(root, 'node_modules/.bin/oxlint'),
      '--format=json'
    ], { cwd: folder, encoding: 'utf8' })
    if (!stdout) throw new Error(stderr)
    const { diagnostics, number_of_files: files } = JSON.parse(stdout) as {
      diagnostics: Diagnostic[],
      number_of_files: number
    }
    if (files !== names.size) throw new Error(`lint read ${files} files of ${names.size}`)
    const rejected = diagnostics.filter(({ code }) => code.includes('no-restricted-imports'))
    return new Set(
      rejected.map(({ filename, labels: [label] }) =>
        `${filename} ${names.get(filename)?.[(label?.span.line ?? 0) - 1]?.[1]}`
      )
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
