import { randomUUID } from 'node:crypto'
import { runConcurrently } from '@tandem/test-kit'
import { settle, type Person } from '../kit/settled-people.ts'
import { call } from '../kit/call.ts'
import { becomeMember } from '../kit/people.ts'
import type { Stack } from '../kit/stack.ts'
import type { Verdict } from './operators.ts'

type TargetType = 'POST' | 'COMMENT' | 'STORY' | 'USER' | 'PROFILE'

interface Report {
  reporter: Reporter
  id: string
}

/** Something that people report. */
export interface Target {
  type: TargetType
  id: string
  author: Person
  verdict: Verdict
  /** The post that a comment is below. */
  postId?: string
  reports: Report[]
}

export interface Reporter {
  id: string
  send: Person['send']
}

const AUTHORS = 16
const REPORTERS = 40
const STORIES = 6
const REPORTED_PEOPLE = 4
const REPORTS_OF_A_POST = 5
/** Three of them suspend a profile without an operator. */
const REPORTS_OF_FIRST_PROFILE = 3

export interface Community {
  authors: Person[]
  reporters: Reporter[]
  /** Eighty: of each author three posts, a comment, and a story, their account or their FitMatch profile. */
  targets: Target[]
}

/** Registers everybody, and lets them write what will be reported. */
export async function createCommunity (stack: Stack): Promise<Community> {
  const each = <Result>(count: number, work: (number: number) => Promise<Result>) =>
    runConcurrently(Array.from({ length: count }, (_, number) => async () => await work(number)), 3)
  const authors = await each(AUTHORS, async (number) => await settle(stack, `author_${number}`))
  const reporters = await each(REPORTERS, async (number) => await createReporter(stack, number))
  const targets = await each(AUTHORS, async (number) => await write(authors, number))
  return { authors, reporters, targets: targets.flat() }
}

export async function createReporter (stack: Stack, number: number): Promise<Reporter> {
  const { accessToken: token } = await becomeMember(stack, `reporter_${number}@example.com`)
  const send: Reporter['send'] = async (method, route, body) =>
    await call(stack, method, route, { token, key: randomUUID(), ...(body && { body }) })
  const { user } = await send<{ user: { id: string } }>('GET', '/auth/me')
  return { id: user.id, send }
}

interface Made {
  data: Record<'post' | 'comment' | 'story', { id: string }> & { id: string }
}

async function write (authors: Person[], number: number): Promise<Target[]> {
  const author = authors[number]!
  const target = (type: TargetType, id: string, verdict: Verdict, more = {}) => ({
    type,
    id,
    author,
    verdict,
    reports: [],
    ...more
  })
  const post = async (verdict: Verdict) => {
    const content = `Post of author ${number} (${verdict})`
    return target('POST', (await author.send<Made>('POST', '/feed', { type: 'TEXT', content })).data.post.id, verdict)
  }
  const last = number === AUTHORS - 1 ? 'threat' : number < AUTHORS / 2 ? 'insult' : 'fine'
  const posts = [target('POST', author.postId, 'fine'), await post('spam'), await post(last)]
  // Not below a post of the last one, who is banned: nobody sees it then.
  const { postId } = authors[(number + 1) % (AUTHORS - 1)]!
  const commented = number % 2 === 0 ? 'spam' : 'fine'
  const content = `Comment of author ${number} (${commented})`
  const { data: { comment } } = await author.send<Made>('POST', `/feed/${postId}/comment`, { content })
  const comments = [target('COMMENT', comment.id, commented, { postId })]
  return [...posts, ...comments, await writeLast(target, author, number)]
}

async function writeLast (
  target: (type: TargetType, id: string, verdict: Verdict) => Target,
  author: Person,
  number: number
) {
  if (number < STORIES) {
    const verdict = number % 2 === 0 ? 'spam' : 'fine'
    const story = { mediaUrl: 'https://example.com/a.jpg', mediaType: 'IMAGE', caption: `Story ${number} (${verdict})` }
    return target('STORY', (await author.send<Made>('POST', '/stories', story)).data.story.id, verdict)
  }
  if (number < STORIES + REPORTED_PEOPLE) return target('USER', author.id, 'fine')
  return target('PROFILE', (await author.send<Made>('GET', '/fitmatch/profile')).data.id, 'fine')
}

/** Sends three hundred reports, of every target at least one. */
export async function reportEverything ({ authors, reporters, targets }: Community) {
  let next = 0
  const profiles = targets.filter(({ type }) => type === 'PROFILE')
  // Stories are shown to followers. The last reporter also reads what became of them.
  for (const { author } of targets.filter(({ type }) => type === 'STORY')) {
    for (const { send } of reporters) await send('POST', `/users/${author.id}/follow`)
  }
  const tasks = targets.flatMap((target) =>
    Array.from({ length: countOf(target, profiles) }, (_, turn) => {
      // FitMatch accepts reports of those who have a profile there.
      const reporter = target.type === 'PROFILE' ? authors[turn]! : reporters[next++ % REPORTERS]!
      return async () => void target.reports.push({ reporter, id: await report(target, reporter) })
    })
  )
  await runConcurrently(tasks, 4)
  return tasks.length
}

function countOf (target: Target, profiles: Target[]) {
  if (target.type === 'POST') return REPORTS_OF_A_POST
  if (target.type === 'PROFILE') return target === profiles[0] ? REPORTS_OF_FIRST_PROFILE : 1
  return 2
}

export async function report ({ type, id, verdict }: Target, { send }: Reporter) {
  if (type === 'PROFILE') {
    const body = { reportedProfileId: id, reason: 'SPAM' }
    return (await send<{ data: { report: { id: string } } }>('POST', '/fitmatch/report', body)).data.report.id
  }
  const reason = { fine: 'OTHER', spam: 'SPAM', insult: 'HARASSMENT', threat: 'VIOLENCE' }[verdict]
  const body = { targetType: type, targetId: id, reason }
  return (await send<{ data: { report: { id: string } } }>('POST', '/reports', body)).data.report.id
}
