// Registers accounts under load while processes are killed one after another, then counts lost accounts and emails. A mail
// whose worker is killed before it knows the answer of the mail server is sent again: a copy with the same Message-ID.
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '@tandem/test-kit'
import { readStack, withStack, type Stack } from './kit/stack.ts'

const KILLS = 20
const KILL_INTERVAL_MS = 2_000
const WRITERS = 4

type Outcome = 'accepted' | 'rejected' | 'unknown'

/** Registers accounts while processes are killed. @returns whether each accepted one exists and got one email */
async function registrations () {
  const cleanups: (() => unknown)[] = []
  let passed = true
  const t = { teardown: (work: () => unknown) => cleanups.push(work), passing: () => passed }
  await withStack(async (started, dataDir) => {
    const outcomes = new Map<string, Outcome>()
    const killed = new Set<number>()
    const mails = new Map<string, Mail>()
    const random = seededRandom(t)
    let killing = true
    // The mail catcher keeps only the newest mails, so they are collected continuously.
    const collecting = setInterval(() => void collectMails(started, mails), 1_000)
    const writers = Array.from({ length: WRITERS }, async (_, writer) => {
      for (let turn = 0; killing; turn++) {
        const email = `writer${writer}.${turn}@example.com`
        outcomes.set(email, await register(started, email))
        await sleep(50)
      }
    })

    for (let kill = 1; kill <= KILLS; kill++) {
      await sleep(KILL_INTERVAL_MS)
      const { gateway, services } = await readStack(dataDir)
      const running = Object.entries({ gateway, ...services }).flatMap(([name, { pid }]) =>
        pid === null || killed.has(pid) ? [] : [{ name, pid }]
      )
      const { name, pid } = running[Math.floor(random() * running.length)]!
      console.log(`${kill}/${KILLS}: kill -9 ${name} (${pid})`)
      process.kill(pid, 'SIGKILL')
      killed.add(pid)
    }
    killing = false
    await Promise.all(writers)
    const recoveredAfterMs = await allReady(started)

    const count = (wanted: Outcome) => [...outcomes.values()].filter((outcome) => outcome === wanted).length
    const acknowledged = [...outcomes].filter(([, outcome]) => outcome === 'accepted').map(([email]) => email)
    const lost: string[] = []
    for (const email of acknowledged) if (!await exists(started, email)) lost.push(email)
    // A mail that was being sent when its worker died is sent again once its lease expires.
    const idsOf = (email: string) => [...mails.values()].filter(({ to }) => to === email).map((mail) => mail.messageId)
    const countMails = (email: string) => new Set(idsOf(email)).size
    for (let waited = 0; waited < 120 && acknowledged.some((email) => countMails(email) === 0); waited++) {
      await sleep(1_000)
    }
    clearInterval(collecting)
    const unmailed = acknowledged.filter((email) => countMails(email) === 0)
    const duplicated = acknowledged.filter((email) => countMails(email) > 1)

    const copies = mails.size - new Set([...mails.values()].map(({ messageId }) => messageId)).size
    const [accepted, rejected, unknown] = [count('accepted'), count('rejected'), count('unknown')]
    console.log(`${outcomes.size} registrations: ${accepted} accepted, ${rejected} rejected, ${unknown} unknown`)
    console.log(`every process was ready ${recoveredAfterMs} ms after the last kill`)
    console.log(
      `accounts lost: ${lost.length}, without an email: ${unmailed.length}, with several emails: ` +
        `${duplicated.length}; copies of the same email: ${copies}`
    )
    passed = lost.length + unmailed.length + duplicated.length === 0
  })
  for (const cleanup of cleanups) cleanup()
  return passed
}

async function register ({ gateway }: Stack, email: string): Promise<Outcome> {
  try {
    const response = await fetch(`${gateway.url}/api/mobile/v1/auth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email }),
      signal: AbortSignal.timeout(10_000)
    })
    const { success } = await response.json() as { success: boolean }
    return success ? 'accepted' : 'rejected'
  } catch {
    return 'unknown'
  }
}

async function exists ({ gateway }: Stack, email: string) {
  const response = await fetch(`${gateway.url}/api/mobile/v1/auth/check-email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email })
  })
  return (await response.json() as { exists?: boolean }).exists === true
}

interface Mail {
  to: string
  messageId: string
}

/** Adds each received mail to `mails`. */
async function collectMails ({ mail }: Stack, mails: Map<string, Mail>) {
  const newest = await (await fetch(`${mail.url}/api/mails`)).json() as {
    id: string,
    to: string[],
    messageId: string
  }[]
  for (const { id, to: [to = ''], messageId } of newest) mails.set(id, { to, messageId })
}

async function allReady ({ gateway }: Stack) {
  const since = Date.now()
  for (;;) {
    const health = await fetch(`${gateway.url}/health/ready`).then(
      async (response) => await response.json() as { down?: string[] },
      () => undefined
    )
    if (health?.down?.length === 0) return Date.now() - since
    await sleep(100)
  }
}

if (!await registrations()) process.exitCode = 1
