import { startCases, type ReportedImage } from '@tandem/case-kit'
import type { Log } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { deleteMarked, detachMedia } from '../media/actions.ts'
import type { Trx } from '../tables.ts'

/** Copies reported images to private storage in the background. */
export const startCopying = ({ db, media }: Deps, log: Log) =>
  startCases({
    service: 'social',
    db,
    media,
    log,
    release: releaseImage,
    onCopied: async (originals) => await deleteMarked({ db, media }, originals)
  })

/** Marks a copied image for deletion if its post or story was deleted meanwhile. */
export const releaseImage = async (trx: Trx, { source, ownerId }: ReportedImage) =>
  await detachMedia(trx, [{ accountId: ownerId, image: source }])
