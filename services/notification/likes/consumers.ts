import { on } from '@tandem/bus-kit'
import { PostLiked, PostUnliked } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { addToDigest, removeFromDigest } from './actions.ts'

export const onPostLiked = (deps: Deps) =>
  on(
    PostLiked,
    async ({ id, time, sequence, data }) => await addToDigest(deps, { eventId: id, sequence, ...data }, time)
  )
export const onPostUnliked = (deps: Deps) =>
  on(PostUnliked, async ({ time, sequence, data }) => await removeFromDigest(deps, { sequence, ...data }, time))
