// Runs a script of this repository on Node 26 with the locked dependencies installed, from any Node since version 20.
// With --runtime it installs only what running Tandem needs: half of the packages, without the compiler, the linter and
// what tests use. It is plain JavaScript without dependencies, because nothing may be installed yet.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { constants, tmpdir, userInfo } from 'node:os'
import path from 'node:path'

const NODE = 26
const root = path.resolve(import.meta.dirname, '../..')
const cache = path.join(root, 'node_modules/.cache')
const RUNTIME_ONLY = [
  '--prod',
  '--filter=@tandem/gateway...',
  '--filter={services/*}...',
  '--filter=@tandem/local...',
  '--filter=@tandem/demo...'
]
const runtimeOnly = process.argv[2] === '--runtime'
const [script, ...args] = process.argv.slice(runtimeOnly ? 3 : 2)
const print = (line) => process.stderr.write(`${line}\n`)

if (!script) fail('usage: node deploy/local/with-node.mjs [--runtime] <script> [arguments]')
// `import.meta.dirname`, used above, is newer than Node 20.0; an older Node fails with a less helpful message.
if (Number(process.versions.node.split('.')[0]) < 20) fail(`Node 20 or newer is required; this is ${process.version}`)

const tools = findTools()
const environment = {
  NODE_COMPILE_CACHE: path.join(cache, 'compile'),
  ...process.env,
  PATH: [...tools.path, process.env.PATH].join(path.delimiter)
}
install()
if (!runtimeOnly) generateSdk()
run()

/** The Node to run, and the folders to prepend to PATH so that every child process finds Node and pnpm. */
function findTools () {
  const cachedTools = readJson(path.join(cache, 'tools.json'))
  if (cachedTools && existsSync(cachedTools.node) && cachedTools.path.every((folder) => existsSync(folder))) {
    return cachedTools
  }

  return withLock('npx', () => {
    ensureLibatomic()
    print(`Fetching Node ${NODE} and pnpm with npx (about 15 seconds the first time, 2 after) …`)
    const found = spawnSync('npx', [
      '--yes',
      `--package=node@${NODE}`,
      '--package=pnpm@12',
      '-c',
      'command -v node; command -v pnpm'
    ], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit']
    })
    const [node, pnpm] = (found.stdout ?? '').trim().split('\n')
    if (found.status !== 0 || !node || !pnpm) {
      fail(
        `npx could not fetch node@${NODE} and pnpm@12. Check that the package registry is reachable and the disk is not full.`
      )
    }
    return { node, pnpm, path: [...new Set([path.dirname(node), path.dirname(pnpm)])] }
  })
}

/** Node 26 for Linux is linked against libatomic, which a bare Debian or Ubuntu does not have. */
function ensureLibatomic () {
  if (process.platform !== 'linux' || !existsSync('/usr/bin/apt-get')) return
  const libraries = spawnSync('/sbin/ldconfig', ['-p'], { encoding: 'utf8' })
  if (libraries.status !== 0 || libraries.stdout.includes('libatomic.so.1')) return
  if (process.getuid() !== 0) {
    fail(`Node ${NODE} needs a library that is not installed. Run: sudo apt-get install libatomic1`)
  }
  print('Installing libatomic1 with apt-get …')
  const get = (...args) =>
    spawnSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=120', ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: ['ignore', 'ignore', 'inherit']
    }).status === 0
  const installed = () => get('install', '--no-install-recommends', '-y', 'libatomic1')
  if (!installed() && !(get('update') && installed())) fail('libatomic1 could not be installed: see the output above')
}

function install () {
  const stamp = path.join(cache, 'installed')
  const lockfile = createHash('sha256').update(readFileSync(path.join(root, 'pnpm-lock.yaml'))).digest('hex')
  const isInstalled = () => {
    const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''
    return installed === `all ${lockfile}` || (runtimeOnly && installed === `runtime ${lockfile}`)
  }
  if (isInstalled() && existsSync(path.join(cache, 'tools.json'))) return

  withLock(createHash('sha256').update(root).digest('hex').slice(0, 12), () => {
    if (!isInstalled()) {
      // What has been installed for tests stays, or `npm start` and `npm test` would install again in turns.
      const filters = runtimeOnly && !existsSync(path.join(root, 'node_modules/tap')) ? RUNTIME_ONLY : []
      print(filters.length > 0 ? 'Installing what running needs …' : 'Installing all dependencies …')
      const options = ['--frozen-lockfile', '--config.confirmModulesPurge=false', ...filters]
      const installed = spawnSync(tools.pnpm, ['install', ...options], {
        cwd: root,
        env: environment,
        stdio: ['ignore', 2, 2]
      })
      if (installed.status !== 0) fail('The dependencies could not be installed: see the output above')
      mkdirSync(cache, { recursive: true })
      writeFileSync(stamp, `${filters.length > 0 ? 'runtime' : 'all'} ${lockfile}`)
    }
    mkdirSync(cache, { recursive: true })
    writeFileSync(path.join(cache, 'tools.json'), JSON.stringify(tools))
  })
}

/** The code of the SDK follows the API document, which changes without a new package. */
function generateSdk () {
  const { status } = spawnSync(tools.node, [path.join(root, 'deploy/clients/ensure-sdk.ts')], {
    env: environment,
    stdio: ['ignore', 2, 2]
  })
  if (status !== 0) fail('The code of the SDK could not be generated: see the output above')
}

function run () {
  const child = spawn(tools.node, [path.resolve(root, script), ...args], {
    env: environment,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc']
  })
  let isStopping = false
  const stop = (signal) => {
    if (isStopping) return
    isStopping = true
    child.kill(signal)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop)

  // npm may be killed, and its shell may die of a signal without passing it on: then the ancestors of this process
  // change.
  const before = ancestors()
  if (process.env.npm_lifecycle_event) {
    setInterval(() => {
      if (ancestors() !== before) stop('SIGTERM')
    }, 500).unref()
  }

  child.on('error', (error) => fail(`Cannot run ${tools.node}: ${error.message}`))
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

/** The parent, and if that is npm's shell, its parent, too (Linux only). */
function ancestors () {
  const { ppid } = process
  try {
    const [, name, , grandparent] = /\((.*)\) (.) (\d+)/.exec(readFileSync(`/proc/${ppid}/stat`, 'utf8')) ?? []
    return name.endsWith('sh') ? `${ppid} ${grandparent}` : `${ppid}`
  } catch {
    return `${ppid}`
  }
}

/** Runs `work` under a lock file: npx and pnpm must not run twice at once in one folder. */
function withLock (name, work) {
  const lock = path.join(tmpdir(), `tandem-${userInfo().uid}-${name}.lock`)
  for (let announced = false;; pause(200)) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' })
      break
    } catch (error) {
      if (error.code !== 'EEXIST') fail(`Cannot write ${lock}: ${error.message}`)
      if (!isAlive(lock)) rmSync(lock, { force: true })
      else if (!announced) {
        print('Waiting for another start of Tandem to finish its installation …')
        announced = true
      }
    }
  }
  const unlock = () => rmSync(lock, { force: true })
  process.once('exit', unlock)
  const result = work()
  process.off('exit', unlock)
  unlock()
  return result
}

function isAlive (lock) {
  try {
    const pid = Number(readFileSync(lock, 'utf8'))
    // The pid of a dead owner may have been reused; no installation takes that long.
    if (Date.now() - statSync(lock).mtimeMs > 10 * 60_000) return false
    // An empty file is just being written by its owner.
    if (pid) process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function pause (ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

function readJson (file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

function fail (line) {
  print(line)
  process.exit(1)
}
