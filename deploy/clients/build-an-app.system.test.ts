import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { sharedStack } from '@tandem/rehearsals/kit/shared-stack.ts'
import { createPng } from '@tandem/media-kit/testing'
import t from 'tap'

const root = path.resolve(import.meta.dirname, '../..')
const readPage = (name: string) => readFileSync(path.join(root, 'docs', name), 'utf8')
const [first, second] = [readPage('build-an-app.md'), readPage('train-together.md')]
const blocksOf = (page: string, language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'gm'))].map(([, block = '']) => block)

/** The blocks of both pages in the order in which a reader runs them: the last step signs out. */
const blocks = (language: string) => {
  const steps = blocksOf(first, language)
  return [...steps.slice(0, -1), ...blocksOf(second, language), ...steps.slice(-1)]
}

const folder = mkdtempSync(path.join(tmpdir(), 'tandem-build-an-app-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const write = (name: string, content: string | Buffer) => {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
  writeFileSync(path.join(folder, name), content)
}

async function run (program: string, ...args: string[]) {
  try {
    return await promisify(execFile)(program, args, { cwd: folder, env: { ...process.env, NODE_OPTIONS: '' } })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string, stderr: string }
    throw new Error(`${program}: ${stdout.slice(-2_000)}${stderr}`, { cause: error })
  }
}

t.test('each step is shown with HTTP and with the SDK', (t) => {
  for (const [page, steps] of [[first, 17], [second, 8]] as const) {
    t.equal(page.match(/^## \d+\. .+$/gm)?.length, steps)
    t.equal(blocksOf(page, 'sh').length, steps)
    t.equal(blocksOf(page, 'ts').length, steps)
  }
  t.end()
})

t.test('the blocks of the SDK have the right types', async (t) => {
  write('typed/journey.mts', blocks('ts').join(''))
  write(
    'typed/tsconfig.json',
    JSON.stringify({
      extends: path.join(root, 'tsconfig.json'),
      compilerOptions: {
        paths: { '@tandem/sdk': [path.join(root, 'packages/sdk-typescript/index.ts')] },
        typeRoots: [path.join(root, 'node_modules/@types')]
      },
      include: ['journey.mts']
    })
  )
  await run(path.join(root, 'node_modules/.bin/tsc'), '-p', path.join(folder, 'typed'))
  t.pass('it compiles')
})

t.test('a code is waited for if its mail is late', async (t) => {
  const [definition] = /^mailed_code \(\)[^]*?^}$/m.exec(first) ?? []
  write(
    'late.sh',
    `set -eu
MAIL=
call () { if [ -e asked ]; then echo '[{ "text": "Your code is 123456." }]'; else touch asked; echo '[]'; fi; }
${definition}
mailed_code ana@example.com`
  )
  t.equal((await run('bash', 'late.sh')).stdout, '123456\n')
})

t.test('every block works on a real system, in order', async (t) => {
  write('run.png', createPng(400, 300))
  write('climb.png', createPng(300, 400))
  mkdirSync(path.join(folder, 'node_modules/@tandem'), { recursive: true })
  symlinkSync(path.join(root, 'packages/sdk-typescript'), path.join(folder, 'node_modules/@tandem/sdk'))

  const { stack: { gateway, mail } } = await sharedStack()
  // The two journeys have people of their own.
  const adapt = (language: string) =>
    blocks(language).join('').replaceAll('http://127.0.0.1:8080', gateway.url)
      .replaceAll('http://127.0.0.1:8025', mail.url).replaceAll('@example.com', `@${language}.example.com`)
  // Without pipefail, as in a reader's shell. A request that fails in a pipe is seen by what curl prints.
  write('journey.sh', `set -eu\n${adapt('sh')}`)
  write('journey.mts', adapt('ts'))
  const { stdout, stderr } = await run('bash', 'journey.sh')
  t.match(stdout, /"isMatch"|true/)
  t.same(stderr.match(/error: \d+/g), ['error: 409'], 'only the check-in, which is too early, is refused')
  t.match(
    (await run(process.execPath, 'journey.mts')).stdout,
    /home: undefined,\s+logs: \[\],\s+chats: undefined,[^]*Climb on Sunday\?\n[^]*Running INVITED\n[^]*ARMED [^]*\n\d+\nfalse\n$/
  )
})
