import type { ReportedImage } from '@tandem/case-kit'
import { detachMedia } from '../media/actions.ts'
import type { Trx } from '../tables.ts'

/** Marks a copied image for deletion if its post or story was deleted meanwhile. */
export const releaseImage = async (trx: Trx, { source, ownerId }: ReportedImage) =>
  await detachMedia(trx, [{ accountId: ownerId, image: source }])
