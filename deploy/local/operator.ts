import { spawnSync } from 'node:child_process'
import { existsSync, openSync, statSync } from 'node:fs'
import path from 'node:path'
import { serviceNames } from '../../gateway/routes.ts'
import { containerCommand, findCommand, usage } from './operator-commands.ts'
import { useRunningSystem } from './running-system.ts'

// `npm run operator -- <command>`: every command of operators, on this machine, in compose and in Kubernetes.

const root = path.resolve(import.meta.dirname, '../..')
const args = process.argv.slice(2)
const place = args[0] === '--in' ? args.splice(0, 2)[1] ?? '' : process.env['OPERATOR_IN'] ?? ''
const command = findCommand(args)
if (args.length === 0 || args[0] === '--help') {
  const identity = await import('../../services/identity/operator/commands.ts')
  console.log(`${usage}\n${identity.usage.split('\n').slice(2).join('\n')}`)
  process.exit()
}
if (![...serviceNames, 'streams'].includes(command.process)) fail(`There is no service ${command.process}\n\n${usage}`)
if (place === '') await runHere()
else runInContainer()

async function runHere () {
  // It needs no database.
  if (command.process !== 'streams' && !await useRunningSystem(command.process)) {
    fail(`Set DATABASE_URL to that of ${command.process}, or run npm start first`)
  }
  process.argv.splice(2, Infinity, ...command.args)
  await import(path.join(root, command.cli))
}

function runInContainer () {
  const [program = '', ...prefix] = containerCommand(place, command.process, findCompose()) ??
    fail(`There is no place ${place}\n\n${usage}`)
  const { NATS_URL } = process.env
  const secret = command.process === 'streams' ? NATS_URL : undefined
  const { file } = command
  if (file && !existsSync(file)) fail(`There is no file ${file}`)
  const { status } = spawnSync(program, [
    ...prefix,
    // Every user of a machine can read a command line, so the password in it is sent as input.
    ...secret ? ['sh', '-c', 'read -r NATS_URL && export NATS_URL && "$@"', 'sh'] : [],
    ...file ? ['sh', '-c', runWithInput(statSync(file).mtime), 'sh'] : [],
    'node',
    command.cli,
    ...command.args.filter((each) => each !== file)
  ], {
    cwd: root,
    ...secret && { input: `${secret}\n` },
    stdio: [secret ? 'pipe' : file ? openSync(file, 'r') : 'inherit', 'inherit', 'inherit']
  })
  process.exitCode = status ?? 1
}

/**
 * A script that runs its arguments, with its input in a file as the last one. The file is as old as the one that was
 * sent: by that, an import that was stopped knows that it goes on with the same one.
 */
function runWithInput (changedAt: Date) {
  return 'folder=$(mktemp -d) && trap \'rm -r "$folder"\' EXIT && cat > "$folder/file" && ' +
    `touch -d ${changedAt.toISOString()} "$folder/file" && "$@" "$folder/file"`
}

/** Versions before 2 are a program of their own. */
function findCompose () {
  const isNew = spawnSync('docker', ['compose', 'version'], { stdio: 'ignore' }).status === 0
  return isNew ? ['docker', 'compose'] : ['docker-compose']
}

function fail (text: string): never {
  console.error(text)
  process.exit(1)
}
