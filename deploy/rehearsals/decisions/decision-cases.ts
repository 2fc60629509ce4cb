import { runConcurrently } from '@tandem/test-kit'
import { createReporter, report, type Reporter, type Target } from '../moderation-day/community.ts'
import { listOpenCases, type Action, type OpenCase, type Operator } from '../moderation-day/operator-api.ts'
import type { Stack } from '../kit/stack.ts'
import { settle, type Person } from '../kit/settled-people.ts'

const AUTHORS = 25
const REPORTERS = 4
/** They report profiles, and block their owners by it. */
const WITNESSES = 6
const REPORTS_OF_EACH = 2

export interface PlannedCase {
  target: Target
  actions: Action[]
}

export interface Author extends Person {
  /** Of what they wrote, or of them as a person; and of their FitMatch profile. */
  cases: PlannedCase[]
}

export interface Community {
  authors: Author[]
  /** Everybody who made reports. */
  reporters: Reporter[]
  /** Somebody who neither reports nor is reported. */
  reader: Reporter
}

const restrict = (scope: Action['scope']): Action => ({ type: 'RESTRICT', ...(scope && { scope }), days: 1 })
const hide: Action = { type: 'HIDE_CONTENT' }
const warn: Action = { type: 'WARN' }
const dismiss: Action = { type: 'DISMISS' }

/** What is decided about the authors, in turn: about what they wrote, and about their profile. */
const plans: { content: Action[], profile: Action[] | 'REMOVE_PHOTO' }[] = [
  { content: [dismiss], profile: [warn] },
  { content: [hide], profile: 'REMOVE_PHOTO' },
  { content: [hide, restrict('POSTING')], profile: [restrict('FITMATCH')] },
  { content: [hide, restrict('ALL')], profile: [warn] },
  { content: [hide, { type: 'BAN' }], profile: [dismiss] }
]
const contentTypes = ['POST', 'COMMENT', 'STORY', 'USER'] as const

/** Registers everybody, and reports two things of each author: fifty cases. */
export async function createCases (stack: Stack): Promise<Community> {
  const each = <Result>(count: number, work: (number: number) => Promise<Result>) =>
    runConcurrently(Array.from({ length: count }, (_, number) => async () => await work(number)), 3)
  const reader = await createReporter(stack, REPORTERS)
  const reporters = await each(REPORTERS, async (number) => await createReporter(stack, number))
  const witnesses = await each(WITNESSES, async (number) => await settle(stack, `witness_${number}`))
  const { data: { post } } = await reader.send<Made>('POST', '/feed', { type: 'TEXT', content: 'What do you think?' })
  const authors = await each(AUTHORS, async (number): Promise<Author> => {
    const author = await settle(stack, `author_${number}`)
    // Stories are shown to followers.
    for (const { send } of [reader, ...reporters]) await send('POST', `/users/${author.id}/follow`)
    return { ...author, cases: await planCases(author, number, post.id) }
  })
  const targets = authors.flatMap(({ cases }) => cases.map(({ target }) => target))
  await runConcurrently(
    targets.flatMap((target, number) =>
      Array.from({ length: REPORTS_OF_EACH }, (_, turn) => {
        const group = target.type === 'PROFILE' ? witnesses : reporters
        const reporter = group[(Math.floor(number / 2) + turn) % group.length]!
        return async () => void target.reports.push({ reporter, id: await report(target, reporter) })
      })
    ),
    3
  )
  return { authors, reporters: [...reporters, ...witnesses], reader }
}

interface Made {
  data: Record<'post' | 'comment' | 'story', { id: string }> & { id: string, photos: { id: string }[] }
}

async function planCases (author: Person, number: number, hostId: string): Promise<PlannedCase[]> {
  const { content, profile } = plans[number % plans.length]!
  const type = contentTypes[number % contentTypes.length]!
  const { data: { photos } } = await author.send<Made>('GET', '/fitmatch/photos')
  const { data: { id: profileId } } = await author.send<Made>('GET', '/fitmatch/profile')
  const plan = (type: Target['type'], id: string, actions: Action[]) => ({
    target: {
      type,
      id,
      author,
      verdict: actions.includes(dismiss) ? 'fine' as const : 'spam' as const,
      postId: hostId,
      reports: []
    },
    actions
  })
  return [
    // A person cannot be hidden like what they wrote.
    plan(
      type,
      await write(type, author, hostId),
      content.map((each) => type === 'USER' && each === hide ? warn : each)
    ),
    plan(
      'PROFILE',
      profileId,
      profile === 'REMOVE_PHOTO' ? [{ type: 'REMOVE_PHOTO', photoId: photos[1]!.id }] : profile
    )
  ]
}

async function write (type: typeof contentTypes[number], author: Person, hostId: string) {
  if (type === 'POST') return author.postId
  if (type === 'USER') return author.id
  if (type === 'COMMENT') {
    const content = `Comment of ${author.username}`
    return (await author.send<Made>('POST', `/feed/${hostId}/comment`, { content })).data.comment.id
  }
  const story = { mediaUrl: 'https://example.com/a.jpg', mediaType: 'IMAGE', caption: `Story of ${author.username}` }
  return (await author.send<Made>('POST', '/stories', story)).data.story.id
}

/** The case that operators see for each planned one. */
export async function findCases (stack: Stack, operator: Operator, { authors }: Community) {
  const open = await listOpenCases(stack, operator)
  return authors.flatMap((author) =>
    author.cases.map(({ target: { type, id }, actions }): { found: OpenCase, actions: Action[] } => {
      // The case of a profile is about its owner: a new profile does not evade it.
      const targetId = type === 'PROFILE' ? author.id : id
      const found = open.find((each) => each.targetType === type && each.targetId === targetId)
      if (!found) throw new Error(`no case of ${type} ${id}`)
      return { found, actions }
    })
  )
}
