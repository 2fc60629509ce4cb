import type { Person } from '../kit/settled-people.ts'
import { call } from '../kit/call.ts'
import type { Stack } from '../kit/stack.ts'
import type { Reporter, Target } from './community.ts'

interface Seen {
  status: string
  outcome: string | null
}

/** What the reporters of a target, its author and everybody else see that contradicts its outcome. */
export async function findContradictions (target: Target, reader: Reporter) {
  const isHidden = target.verdict !== 'fine'
  const wrong: string[] = []
  const expect = (seen: unknown, wanted: unknown, who: string) => {
    if (seen !== wanted) wrong.push(`${target.type} ${target.id}: ${who}: ${String(seen)}, not ${String(wanted)}`)
  }
  for (const { reporter, id } of target.reports) {
    const seen = await findReport(reporter, target.type, id)
    expect(seen?.status, 'RESOLVED', 'a reporter sees the status')
    expect(seen?.outcome, isHidden ? 'ACTION_TAKEN' : 'NO_VIOLATION', 'a reporter sees the outcome')
  }
  if (target.type === 'POST' || target.type === 'STORY') {
    const route = target.type === 'POST' ? `/feed/${target.id}` : `/stories/${target.id}`
    const status = await statusOf(reader, route)
    expect(status === 200, !isHidden, `somebody else gets ${status}`)
  }
  if (target.type === 'COMMENT') {
    const { data } = await reader.send<{ data: { comments: { id: string }[] } }>(
      'GET',
      `/feed/${target.postId}/comment`
    )
    expect(data.comments.some(({ id }) => id === target.id), !isHidden, 'somebody else sees the comment')
  }
  return wrong
}

async function findReport ({ send }: Reporter, type: Target['type'], id: string): Promise<Seen | undefined> {
  const route = type === 'PROFILE' ? '/fitmatch/report' : '/reports?limit=50'
  const { data: { reports } } = await send<{ data: { reports: (Seen & { id: string })[] } }>('GET', route)
  return reports.find((each) => each.id === id)
}

export async function statusOf ({ send }: Pick<Reporter, 'send'>, route: string, body?: object) {
  try {
    await send(body ? 'POST' : 'GET', route, body)
    return 200
  } catch (error) {
    return (error as Error).cause as number
  }
}

export interface Standing {
  status: string
  restrictions: { scope: string, until: string | null }[]
  decisions: {
    id: string,
    statement: string,
    automated: boolean,
    subject: { type: string | null },
    appeal: { status: string } | null
  }[]
}

export const standingOf = async ({ send }: Pick<Person, 'send'>) =>
  (await send<{ data: { standing: Standing } }>('GET', '/account/standing')).data.standing

/** The decisions or the reports that somebody was notified of, each as often as it is in their inbox. */
export async function listNotified ({ send }: Pick<Person, 'send'>, of: 'decisionId' | 'reportId') {
  const { data } = await send<{ data: { notifications: { data: Record<string, string> }[] } }>(
    'GET',
    '/notifications?limit=50'
  )
  return data.notifications.flatMap(({ data }) => data[of] ?? [])
}

/** How many notifications of decisions are in somebody's inbox. */
export const countNotified = async (person: Pick<Person, 'send'>) => (await listNotified(person, 'decisionId')).length

/** The texts of the mails to an address, newest first. */
export async function mailsTo ({ mail }: Stack, address: string) {
  const response = await fetch(`${mail.url}/api/mails?to=${encodeURIComponent(address)}`)
  return (await response.json() as { text: string }[]).map(({ text }) => text)
}

/** The code of the error with which a request is refused; OK if it is not. @throws any other error */
export async function codeOf (request: Promise<unknown>) {
  try {
    await request
    return 'OK'
  } catch (error) {
    const [, code] = /"code":"(\w+)"/.exec((error as Error).message) ?? []
    if (code === undefined) throw error
    return code
  }
}

export const codeOfSignIn = async (stack: Stack, { email, password }: { email: string, password: string }) =>
  await codeOf(call(stack, 'POST', '/auth/login', { body: { email, password } }))
