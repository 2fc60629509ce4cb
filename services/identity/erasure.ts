import { createErasure } from '@tandem/account-kit'
import type { Deps } from './deps.ts'
import { personalData } from './personal-data.ts'
import { confirmErasure } from './erasures/actions.ts'
import { findReceiptMail } from './erasures/stub.ts'

/** The erasure of accounts in identity, which is the last of all services. */
export const createIdentityErasure = (
  { db, secrets, mailer, privateStorage }: Pick<Deps, 'db' | 'secrets' | 'mailer' | 'privateStorage'>
) =>
  createErasure({
    db,
    personalData,
    // The files of an export are a folder.
    removeFile: async (folder) => await privateStorage.removeFolder(folder),
    forget: async (accountId) => await mailer.enqueue([await findReceiptMail(db, accountId)]),
    report: {
      service: 'identity',
      confirm: async (trx, erased) => await confirmErasure(trx, secrets, 'identity', erased)
    }
  })
