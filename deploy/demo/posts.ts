import type { Member } from './member.ts'
import { createRandom, type Random } from './random.ts'
import { drawScene, sceneNames } from './scenes.ts'
import { captions, polls, stories, thoughts } from './texts.ts'

export interface NewPost {
  author: Member
  type: 'TEXT' | 'IMAGE' | 'POLL'
  content: string
  drawings: string[]
  poll?: typeof polls[number]
}

export interface Post {
  id: string
  author: Member
  /** The ids of the answers of a poll. */
  options: string[]
}

/** One or two posts of each person, in mixed order. */
export function describePosts (seed: string, members: Member[]): NewPost[] {
  const random = createRandom(`${seed} posts`)
  const authors = [...random.sample(members, members.length), ...random.sample(members, 18), ...members.slice(0, 2)]
  return authors.map((author) => describePost(random, author))
}

export function describePost (random: Random, author: Member): NewPost {
  const dice = random.next()
  if (dice < 0.05) return { author, type: 'POLL', content: '', drawings: [], poll: random.pick(polls) }
  if (dice < 0.2) return { author, type: 'TEXT', content: random.pick(thoughts), drawings: [] }
  const scene = random.pick(sceneNames)
  const drawings = Array.from(
    { length: random.chance(0.15) ? 3 : 1 },
    () =>
      drawScene(String(random.next()), scene, random.pick([{ width: 840, height: 840 }, { width: 840, height: 1050 }]))
  )
  return { author, type: 'IMAGE', content: random.pick(captions[scene]), drawings }
}

export async function createPost ({ author, type, content, drawings, poll }: NewPost): Promise<Post> {
  const mediaUrls = await Promise.all(drawings.map(async (svg) => await author.upload('/media', svg)))
  const { data: { post } } = await author.send<
    { data: { post: { id: string, poll?: { options: { id: string }[] } } } }
  >(
    'POST',
    '/feed',
    {
      type,
      content,
      ...(mediaUrls.length > 0 && { mediaUrls, mediaType: 'image/png' }),
      ...(poll && { pollQuestion: poll.question, pollOptions: poll.options.map((text) => ({ text })) })
    }
  )
  return { id: post.id, author, options: post.poll?.options.map(({ id }) => id) ?? [] }
}

/** A post and a story, each with a video. */
export async function createVideos (author: Member, random: Random) {
  const draw = (size: { width: number, height: number }) => drawScene(String(random.next()), 'beach', size)
  const post = await author.uploadVideo('phone.mov', draw({ width: 640, height: 480 }))
  await author.send('POST', '/feed', { type: 'VIDEO', content: 'The form check of today #video', mediaUrls: [post] })
  const story = await author.uploadVideo('rotated.mp4', draw({ width: 480, height: 640 }))
  await author.send('POST', '/stories', { mediaUrl: story, mediaType: 'VIDEO', caption: 'In motion' })
}

export async function createStory (author: Member, random: Random) {
  const drawing = drawScene(String(random.next()), random.pick(sceneNames), { width: 720, height: 1280 })
  const { data: { story } } = await author.send<{ data: { story: { id: string } } }>('POST', '/stories', {
    mediaUrl: await author.upload('/media', drawing),
    mediaType: 'IMAGE',
    caption: random.pick(stories)
  })
  return { id: story.id, author }
}

/** A main person shows their newest workout with exercises, and their best achievement. */
export async function showTraining ({ send }: Member) {
  const { data: { logs } } = await send<{ data: { logs: { id: string, data: { exercises?: unknown[] } }[] } }>(
    'GET',
    '/logs?type=WORKOUT&limit=20'
  )
  const workout = logs.find(({ data }) => data.exercises?.length)
  const { data: { achievements } } = await send<{ data: { achievements: { id: string | null, kind: string }[] } }>(
    'GET',
    '/achievements'
  )
  const streak = achievements.findLast(({ id, kind }) => id !== null && kind.startsWith('STREAK'))
  if (workout) await send('POST', '/feed', { type: 'WORKOUT', content: 'Done!', workoutId: workout.id })
  if (streak) await send('POST', '/feed', { type: 'ACHIEVEMENT', achievementId: streak.id })
}

/** The host of a plan invites everybody to it. */
export const showPlan = async ({ send }: Member, activityId: string) =>
  await send('POST', '/feed', { type: 'ACTIVITY', content: 'Who joins?', activityId })
