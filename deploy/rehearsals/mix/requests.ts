import type { World } from './world.ts'

export interface Call {
  method: 'GET' | 'POST'
  path: string
  token?: string
  body?: object
}

let serial = 0
export const any = <Item>(items: Item[]) => items[Math.floor(Math.random() * items.length)]!
/** Newer posts and the people who write most are met more often. */
const firstOf = <Item>(items: Item[]) => items[Math.floor(items.length * Math.random() ** 2)]!

/** What an app requests: how many of a hundred requests, and one of them. Those of share 0 are offered alone. */
export const mix: Record<string, [share: number, create: (world: World) => Call]> = {
  feed: [35, ({ active }) => get(any(active), `/feed?limit=20${Math.random() < 0.4 ? '&feedType=following' : ''}`)],
  like: [12, ({ active, posts }) => post(any(active), `/feed/${firstOf(posts)}/like`)],
  home: [10, ({ active }) => get(any(active), '/dashboard/home')],
  profile: [10, ({ active, others }) => get(any(active), `/users/${firstOf(others)}`)],
  chats: [5, ({ active }) => get(any(active), '/fitmatch/matches')],
  chat: [5, ({ active }) => chatOf(any(active), (me, path) => get(me, path))],
  message: [5, ({ active }) => chatOf(any(active), (me, path) => post(me, `${path}/messages`, words()))],
  discover: [6, ({ active }) => get(any(active), '/fitmatch/discover')],
  comment: [5, ({ active, posts }) => post(any(active), `/feed/${firstOf(posts)}/comment`, words())],
  notifications: [5, ({ active }) => get(any(active), '/notifications')],
  post: [2, ({ active }) => post(any(active), '/feed', { type: 'TEXT', ...words() })],
  register: [0, () => ({
    method: 'POST',
    path: '/auth/register',
    body: { email: `${crypto.randomUUID()}@example.com`, password: 'Correct-horse-7' }
  })]
}

export const inMix = Object.keys(mix).filter((name) => mix[name]![0] > 0)

/** A hundred turns, or as many as the shares of what is offered. */
export const turnsOf = (names: string[]) =>
  names.flatMap((name) => Array.from({ length: mix[name]![0] || 1 }, () => name))

type Active = World['active'][number]
const get = ({ token }: Active, path: string): Call => ({ method: 'GET', path, token })
const post = ({ token }: Active, path: string, body?: object): Call => ({
  method: 'POST',
  path,
  token,
  ...(body && { body })
})
const chatOf = (me: Active, create: (me: Active, path: string) => Call) => create(me, `/fitmatch/chat/${me.matchId}`)
const words = () => ({ content: `See you in the park on Sunday ${serial++}` })
