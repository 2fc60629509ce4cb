import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { PASSWORD } from '@tandem/rehearsals/kit/people.ts'
import { readStack, type Stack } from '@tandem/rehearsals/kit/stack.ts'
import { screen } from '@tandem/local-servers/screen.ts'
import { keepActive } from './live.ts'
import { createMember, type Member } from './member.ts'
import { describePeople } from './people.ts'
import { fill } from './seed.ts'

// `npm run demo`: `npm start` with people in it. All options but `--live` and `--seed` are those of `npm start`.

const startedAt = performance.now()
const root = path.resolve(import.meta.dirname, '../..')
const dataDir = path.resolve(root, process.env['DATA_DIR'] ?? '.data/demo')
const peopleFile = path.join(dataDir, 'demo.json')
const { values: { live, seed, fresh, lan } } = parseArgs({
  options: {
    live: { type: 'boolean', default: false },
    seed: { type: 'string', default: 'tandem' },
    fresh: { type: 'boolean', default: false },
    lan: { type: 'boolean', default: false }
  }
})

// Sixty people who arrive from one address need more than the documented limits.
const launcher = spawn(process.execPath, [
  path.join(root, 'deploy/local/start.ts'),
  ...(fresh || !existsSync(peopleFile) ? ['--fresh'] : []),
  ...(lan ? ['--lan'] : [])
], {
  env: { LIMIT_PROFILE: 'relaxed', FLOOD_LIMIT: 'off', ...process.env, DATA_DIR: dataDir },
  stdio: ['inherit', 'inherit', 'inherit', 'ipc']
})
const ended = once(launcher, 'exit')
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => launcher.kill(signal))
process.on('disconnect', () => launcher.kill('SIGTERM'))

const stopping = new AbortController()
void ended.then(([code]) => {
  stopping.abort()
  process.exit(Number(code ?? 1))
})

await once(launcher, 'message')
const stack = await readStack(dataDir)
try {
  const members = await populate(stack)
  screen.line()
  screen.done('The demo is ready', startedAt)
  screen.line()
  screen.table(members.slice(0, 2).map(({ person }) => [person.name, person.email, PASSWORD]))
  screen.line()
  screen.line(`  Sign in at ${stack.devPage.url}/app/. Tokens and mails are at ${stack.devPage.url}.`)
  screen.line()
  // It is built now, unless it is current, so that nobody waits for it.
  await fetch(`${stack.devPage.url}/app/`)
  if (live) await keepActive(members, stopping.signal)
  else screen.line('  npm run demo -- --live keeps people active; --lan opens it to a phone, with a QR code.')
} catch (error) {
  screen.error(
    `The demo is not complete (${(error as Error).message}). The system runs on; npm run demo -- --fresh makes it again`
  )
}

/** The people of an earlier start stay, unless `--fresh` deletes them. */
async function populate (stack: Stack): Promise<Member[]> {
  if (existsSync(peopleFile)) {
    const { seed } = JSON.parse(readFileSync(peopleFile, 'utf8')) as { seed: string }
    return describePeople(seed).map((person) => createMember(stack, person))
  }
  const since = performance.now()
  screen.step('Filling it with people …')
  const members = await fill(stack, seed, (text) => screen.done(text, since))
  writeFileSync(
    peopleFile,
    JSON.stringify({
      seed,
      password: PASSWORD,
      people: members.map(({ person: { name, email } }) => ({ name, email }))
    })
  )
  return members
}
