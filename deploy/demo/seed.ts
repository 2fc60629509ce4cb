import type { Stack } from '@tandem/rehearsals/kit/stack.ts'
import pLimit from 'p-limit'
import { findHome, join } from './join.ts'
import { fast, makeBuddies, planOpenly, planTogether } from './plans.ts'
import type { Member } from './member.ts'
import { importPlaces } from './places.ts'
import { createPost, createStory, createVideos, describePosts, showPlan, showTraining } from './posts.ts'
import { describePeople } from './people.ts'
import { createRandom } from './random.ts'
import { chats, comments, reactions, replies } from './texts.ts'

// More at once makes nothing faster on two cores: the pictures and the password hashes take the time.
const CONCURRENCY = 4

type Report = (text: string) => void

/** Fills an empty system through its public API, but for the gyms of its city. The same seed makes the same people, texts and pictures. */
export async function fill (stack: Stack, seed: string, report: Report): Promise<Member[]> {
  const limit = pLimit(CONCURRENCY)
  const each = async <T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>) =>
    await Promise.all(items.map((item, index) => limit(work, item, index)))

  const home = await findHome(stack)
  await importPlaces(stack)
  const members = await each(
    describePeople(seed),
    async (person, index) => await join(person, { stack, seed, home, isMain: index < 2 })
  )
  report(`${members.length} people with eight weeks of workouts`)

  const random = createRandom(`${seed} social`)
  const follows = members.flatMap((member, index) =>
    random.sample(members.filter((other) => other !== member), index < 2 ? 24 : random.integer(4, 12))
      .map((other) => ({ member, other }))
  )
  await each(
    follows,
    async ({ member, other }) => await member.send('POST', `/users/${await other.accountId()}/follow`)
  )
  report(`${follows.length} follows`)

  const posts = await each(describePosts(seed, members), createPost)
  const storytellers = random.sample(members, 22)
  const stories = await each(
    storytellers,
    async (member) => await createStory(member, createRandom(`${seed} story ${member.person.name}`))
  )
  await createVideos(members[0]!, createRandom(`${seed} videos`))
  report(`${posts.length} posts, ${stories.length} stories and two videos`)

  const likes = posts.flatMap((post) =>
    random.sample(members, random.integer(3, 26)).map((member) => ({ post, member }))
  )
  await each(likes, async ({ post, member }) => await member.send('POST', `/feed/${post.id}/like`))
  const remarks = posts.flatMap((post) =>
    random.sample(members.filter((member) => member !== post.author), random.integer(0, 4))
      .map((member) => ({
        post,
        member,
        text: random.pick(comments),
        reply: random.chance(0.4) ? random.pick(replies) : ''
      }))
  )
  await each(remarks, async ({ post, member, text, reply }) => {
    const { data } = await member.send<{ data: { comment: { id: string } } }>('POST', `/feed/${post.id}/comment`, {
      content: text
    })
    if (reply) await post.author.send('POST', `/feed/${post.id}/comment`, { content: reply, parentId: data.comment.id })
  })
  const votes = posts.filter(({ options }) => options.length > 0).flatMap(({ id, options }) =>
    random.sample(members.slice(2), 30).map((member) => ({ id, member, optionId: random.pick(options) }))
  )
  await each(votes, async ({ id, member, optionId }) => await member.send('POST', `/feed/${id}/vote`, { optionId }))
  // Only followers see a story.
  const views = stories.flatMap((story) =>
    random.sample(follows.filter(({ member, other }) => other === story.author && members.indexOf(member) > 1), 8)
      .map(({ member }) => ({ story, member, emoji: random.chance(0.5) ? random.pick(reactions) : '' }))
  )
  await each(views, async ({ story, member, emoji }) => {
    await member.send('GET', `/stories/${story.id}`)
    if (emoji) await member.send('POST', `/stories/${story.id}/react`, { emoji })
  })
  report(`${likes.length} likes, ${remarks.length} comments, ${votes.length} votes`)

  const matches = await match(members, each)
  report(`${matches} matches with chats`)

  await Promise.all([0, 1].map(async (main) => {
    const followed = follows.filter(({ member }) => member === members[main]).map(({ other }) => other)
    await planTogether(members[main]!, matchesOf(members, main))
    await makeBuddies(members[main]!, followed.slice(0, 3) as [Member, Member, Member])
    await fast(members[main]!, random)
    await showTraining(members[main]!)
  }))
  const hosts = members.slice(30)
  const [activity] = await planOpenly(hosts, random)
  if (activity) await showPlan(hosts[0]!, activity.id)
  report('Activities, sport buddies and fasts')
  return members
}

/** The three people that a main person has matched with. */
const matchesOf = (members: Member[], main: number) =>
  [2, 4, 6].map((other) => members[other + main]!) as [Member, Member, Member]

type Each = <T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>) => Promise<R[]>

/**
 * The two main people have matched with three people each, and others like them already. They have not swiped each
 * other: each is the other's best candidate.
 */
async function match (members: Member[], each: Each) {
  const profileIds = await each(
    members,
    async (member) => (await member.send<{ data: { id: string } }>('GET', '/fitmatch/profile')).data.id
  )
  const swipe = async (from: number, to: number, swipeType: string) =>
    (await members[from]!.send<{ data: { match?: { matchId: string } } }>('POST', '/fitmatch/swipe', {
      targetProfileId: profileIds[to],
      swipeType
    })).data.match?.matchId
  const pairs = [0, 1].flatMap((main) =>
    matchesOf(members, main).map((other, index) => ({ main, other: members.indexOf(other), chat: chats[index] ?? [] }))
  )
  await each(pairs, async ({ main, other, chat }) => {
    await swipe(other, main, 'WORKOUT_BUDDY')
    const matchId = await swipe(main, other, 'WORKOUT_BUDDY')
    for (const [turn, content] of chat.entries()) {
      const author = members[turn % 2 === 0 ? other : main]!
      await author.send('POST', `/fitmatch/chat/${matchId}/messages`, { content })
    }
  })
  const admirers = [0, 1].flatMap((main) => [10, 12, 14, 16, 18].map((other) => ({ main, other: other + main })))
  await each(admirers, async ({ main, other }) => await swipe(other, main, 'LIKE'))
  return pairs.length
}
