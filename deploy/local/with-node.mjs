// Runs a script of this repository on Node 26, whatever Node (from 20 on) started this file, with the locked
// dependencies installed. It is plain JavaScript and imports nothing, because nothing may be installed yet.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { constants, tmpdir, userInfo } from 'node:os'
import path from 'node:path'

const NODE = 26
const root = path.resolve(import.meta.dirname, '../..')
const cache = path.join(root, 'node_modules/.cache')
const [script, ...args] = process.argv.slice(2)
const say = (line) => process.stderr.write(`${line}\n`)

if (!script) fail('usage: node deploy/local/with-node.mjs <script> [arguments]')
// `import.meta.dirname`, used above, is younger than Node 20.0; an older Node fails with a worse line than this one.
if (Number(process.versions.node.split('.')[0]) < 20) fail(`Node 20 or newer is needed to begin; this is ${process.version}`)

const tools = findTools()
const environment = {
  NODE_COMPILE_CACHE: path.join(cache, 'compile'),
  ...process.env,
  PATH: [...tools.path, process.env.PATH].join(path.delimiter)
}
install()
run()

/** The Node to run on, and what to put on the PATH so that everything started from here finds it, and pnpm, too. */
function findTools () {
  const remembered = readJson(path.join(cache, 'tools.json'))
  if (remembered && existsSync(remembered.node) && remembered.path.every((folder) => existsSync(folder))) return remembered

  return alone('npx', () => {
    ensureLibatomic()
    say(`Fetching Node ${NODE} and pnpm with npx (about 15 seconds the first time, 2 after) …`)
    const found = spawnSync('npx', ['--yes', `--package=node@${NODE}`, '--package=pnpm@12', '-c', 'command -v node; command -v pnpm'], {
      cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit']
    })
    const [node, pnpm] = (found.stdout ?? '').trim().split('\n')
    if (found.status !== 0 || !node || !pnpm) fail(`npx could not bring node@${NODE} and pnpm@12. Is the package registry within reach, and the disk not full?`)
    return { node, pnpm, path: [...new Set([path.dirname(node), path.dirname(pnpm)])] }
  })
}

/** Node 26 for Linux is linked against libatomic, which a bare Debian or Ubuntu does not have. */
function ensureLibatomic () {
  if (process.platform !== 'linux' || !existsSync('/usr/bin/apt-get')) return
  const libraries = spawnSync('/sbin/ldconfig', ['-p'], { encoding: 'utf8' })
  if (libraries.status !== 0 || libraries.stdout.includes('libatomic.so.1')) return
  if (process.getuid() !== 0) fail(`Node ${NODE} needs a library that is not installed: sudo apt-get install libatomic1`)
  say('Installing libatomic1 with apt-get …')
  const get = (...args) => spawnSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=120', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, stdio: ['ignore', 'ignore', 'inherit']
  }).status === 0
  const installed = () => get('install', '--no-install-recommends', '-y', 'libatomic1')
  if (!installed() && !(get('update') && installed())) fail('libatomic1 could not be installed: see the lines above')
}

function install () {
  const stamp = path.join(cache, 'installed')
  const lockfile = createHash('sha256').update(readFileSync(path.join(root, 'pnpm-lock.yaml'))).digest('hex')
  const fresh = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === lockfile
  if (fresh() && existsSync(path.join(cache, 'tools.json'))) return

  alone(createHash('sha256').update(root).digest('hex').slice(0, 12), () => {
    if (!fresh()) {
      say('Installing the dependencies …')
      const installed = spawnSync(tools.pnpm, ['install', '--frozen-lockfile', '--config.confirmModulesPurge=false'], {
        cwd: root, env: environment, stdio: ['ignore', 2, 2]
      })
      if (installed.status !== 0) fail('The dependencies could not be installed: see the lines above')
    }
    mkdirSync(cache, { recursive: true })
    writeFileSync(path.join(cache, 'tools.json'), JSON.stringify(tools))
    writeFileSync(stamp, lockfile)
  })
}

function run () {
  const child = spawn(tools.node, [path.resolve(root, script), ...args], { env: environment, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  let asked = false
  const stop = (signal) => {
    if (asked) return
    asked = true
    child.kill(signal)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop)

  // npm may be killed, and the shell it puts between may die of a signal without passing it on: then the ancestors are others.
  const before = ancestors()
  if (process.env.npm_lifecycle_event) setInterval(() => { if (ancestors() !== before) stop('SIGTERM') }, 500).unref()

  child.on('error', (error) => fail(`Cannot run ${tools.node}: ${error.message}`))
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

/** The parent, and when that is npm's shell, where the system tells, the parent of it. */
function ancestors () {
  const { ppid } = process
  try {
    const [, name, , grandparent] = /\((.*)\) (.) (\d+)/.exec(readFileSync(`/proc/${ppid}/stat`, 'utf8')) ?? []
    return name.endsWith('sh') ? `${ppid} ${grandparent}` : `${ppid}`
  } catch {
    return `${ppid}`
  }
}

/** Runs `work` while no other process does: neither npx nor pnpm likes company in the same folder. */
function alone (name, work) {
  const lock = path.join(tmpdir(), `tandem-${userInfo().uid}-${name}.lock`)
  for (let told = false; ; pause(200)) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' })
      break
    } catch (error) {
      if (error.code !== 'EEXIST') fail(`Cannot write ${lock}: ${error.message}`)
      if (!isAlive(lock)) rmSync(lock, { force: true })
      else if (!told) {
        say('Waiting for another start of Tandem to finish its installation …')
        told = true
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
    // The pid of a dead owner may be a stranger's by now; no installation takes that long.
    if (Date.now() - statSync(lock).mtimeMs > 10 * 60_000) return false
    // An empty file belongs to somebody who is just writing it.
    if (pid) process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function pause (milliseconds) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

function readJson (file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

function fail (line) {
  say(line)
  process.exit(1)
}
