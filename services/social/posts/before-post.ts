import type { Deps } from '../deps.ts'
import type { Visibility } from '../tables.ts'
import type { NewPost } from './actions.ts'
import { findPost } from './queries.ts'
import { toSnapshotResponses } from './snapshots.ts'

interface ShownTexts {
  poll: { question: string, options: string[] } | null
  workout: { name: string | null } | null
  activity: { title: string, locationName: string | null } | null
  locationName: string | null
}

/** Every text of a person that a post shows, but its content. */
const otherTextsOf = ({ poll, workout, activity, locationName }: ShownTexts) =>
  [poll?.question, ...poll?.options ?? [], workout?.name, activity?.title, activity?.locationName, locationName]
    .filter((text) => typeof text === 'string')

type AskedPost = Pick<NewPost, 'visibility' | 'content' | 'mediaUrls' | 'poll' | 'snapshots' | 'locationName'>

/** @throws HookDenied */
export async function askBeforePost (
  { hooks }: Pick<Deps, 'hooks'>,
  accountId: string,
  { visibility, content, mediaUrls, poll, snapshots, locationName }: AskedPost
) {
  const otherTexts = otherTextsOf({ poll, locationName, ...snapshots })
  await hooks.ask('before-post', { accountId, postId: null, visibility, content, otherTexts, mediaUrls })
}

interface Edit {
  id: string
  accountId: string
  changes: { content?: string | undefined, visibility?: Visibility | undefined }
}

/** Only about a post of one's own: the update refuses any other. @throws HookDenied */
export async function askBeforeEdit (
  { db, hooks, media }: Pick<Deps, 'db' | 'hooks' | 'media'>,
  { id, accountId, changes }: Edit
) {
  const post = await findPost(db, id, accountId)
  if (post?.userId !== accountId) return
  const { content = post.content, visibility = post.visibility } = changes
  const { workout, activity } = toSnapshotResponses(post)
  const poll = post.poll && { ...post.poll, options: post.poll.options.map(({ text }) => text) }
  await hooks.ask('before-post', {
    accountId,
    postId: id,
    visibility,
    content,
    otherTexts: otherTextsOf({ poll, workout, activity, locationName: post.locationName }),
    mediaUrls: post.mediaUrls.map((stored) => media.urlOf(stored))
  })
}
