import type { Person } from '../chaos/erasure-people.ts'
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

/** How many notices of decisions are in somebody's inbox. */
export async function countNotices ({ send }: Pick<Person, 'send'>) {
  const { data } = await send<{ data: { notifications: { data: Record<string, string> }[] } }>(
    'GET',
    '/notifications?limit=50'
  )
  return data.notifications.filter(({ data }) => 'decisionId' in data).length
}
