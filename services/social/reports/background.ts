import { startCases } from '@tandem/case-kit'
import type { Log } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { deleteMarked } from '../media/actions.ts'
import { releaseImage } from './release.ts'

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
