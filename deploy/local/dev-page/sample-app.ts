import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { screen } from '@tandem/local-servers/screen.ts'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { CONTENT_SECURITY_POLICY } from './modules.ts'

const root = path.resolve(import.meta.dirname, '../../..')
const example = path.join(root, 'examples/expo')
const cache = path.join(root, 'node_modules/.cache/sample-app')
const sources = [
  'pnpm-lock.yaml',
  'gateway/openapi.json',
  'examples/expo/*.{js,json}',
  'examples/expo/{app,components}/**/*.{ts,tsx}',
  'packages/{sdk-typescript,sdk-react}/*.ts'
]
const SHOWN_OUTPUT_BYTES = 2_000

/**
 * The web export of examples/expo at /app/. It is made when the app is opened and its sources have changed; meanwhile, a
 * page says so and comes again.
 */
export function serveSampleApp (app: FastifyInstance) {
  let folder: string | undefined
  let building: Promise<void> | undefined
  let failed: string | undefined
  const stopping = new AbortController()
  app.addHook('onClose', () => stopping.abort())

  function findExport () {
    const version = hashSources()
    const wanted = path.join(cache, version)
    if (existsSync(wanted)) folder = wanted
    else if (failed !== version) {
      building ??= build(wanted, stopping.signal).catch((error: unknown) => {
        if (stopping.signal.aborted) return
        failed = version
        screen.error(`The sample app could not be built: ${(error as Error).message}`)
      }).finally(() => {
        building = undefined
      })
    }
    return { isCurrent: folder === wanted, hasFailed: failed === version }
  }

  const sendPage = (reply: FastifyReply) => {
    const { isCurrent, hasFailed } = findExport()
    void reply.header('content-security-policy', CONTENT_SECURITY_POLICY)
    if (isCurrent) return reply.sendFile('index.html', folder!, { cacheControl: false })
    return reply.code(hasFailed ? 500 : 503).type('text/html').send(hasFailed ? failurePage : waitingPage)
  }

  app.get('/app', (_request, reply) => reply.redirect('/app/'))
  app.get<{ Params: { '*': string } }>('/app/*', (request, reply) => {
    const name = request.params['*']
    // A page of the app has an address without a file.
    if (name === '' || path.extname(name) === '') return sendPage(reply)
    return folder === undefined ? reply.callNotFound() : reply.sendFile(name, folder, { cacheControl: false })
  })
}

function hashSources () {
  const hash = createHash('sha256').update(process.env['BRAND_DIR'] ?? '')
  for (const file of globSync(sources, { cwd: root }).sort()) hash.update(readFileSync(path.join(root, file)))
  return hash.digest('hex').slice(0, 16)
}

async function build (folder: string, signal: AbortSignal) {
  const startedAt = performance.now()
  mkdirSync(cache, { recursive: true })
  // `npm start` and `npm run demo` install only what the system runs on.
  if (!['examples/expo', 'deploy/clients'].every((each) => existsSync(path.join(root, each, 'node_modules')))) {
    screen.step('Installing what the sample app is built with …')
    const filters = ['--filter=@tandem/example-expo...', '--filter=@tandem/clients...']
    await run('pnpm', ['install', '--prod', '--frozen-lockfile', ...filters], { cwd: root, signal })
  }
  screen.step('Building the sample app, in a minute or two …')
  await run(process.execPath, ['deploy/clients/ensure-sdk.ts'], { cwd: root, signal })
  const unfinished = `${folder}-${process.pid}`
  try {
    const expo = path.join(example, 'node_modules/expo/bin/cli')
    // Minifying doubles the time of the build, and browsers of this machine or network gain nothing by it.
    await run(process.execPath, [expo, 'export', '--platform', 'web', '--no-minify', '--output-dir', unfinished], {
      cwd: example,
      signal
    })
    for (const other of readdirSync(cache)) {
      if (other !== path.basename(unfinished)) rmSync(path.join(cache, other), { recursive: true, force: true })
    }
    renameSync(unfinished, folder)
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
  screen.done('The sample app is built', startedAt)
}

/** @throws with the end of the output if the program fails */
async function run (program: string, args: string[], options: { cwd: string, signal: AbortSignal }) {
  const child = spawn(program, args, {
    ...options,
    env: { ...process.env, CI: '1', EXPO_NO_TELEMETRY: '1', EXPO_OFFLINE: '1', EXPO_BASE_URL: '/app' },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let output = ''
  const keep = (data: Buffer) => {
    output = `${output}${data.toString()}`.slice(-SHOWN_OUTPUT_BYTES)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  await new Promise<void>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => code === 0 ? resolve() : reject(new Error(output)))
  })
}

const pageOf = (text: string, head: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>Sample app</title>${head}</head>
<body style="font: 18px system-ui; padding: 2rem; text-align: center"><p>${text}</p></body></html>`

const waitingPage = pageOf(
  'The sample app is being built. It opens by itself in a minute or two.',
  '<meta http-equiv="refresh" content="2">'
)
const failurePage = pageOf('The sample app could not be built. The terminal says why.', '')
