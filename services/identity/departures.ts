import { createDepartures } from '@tandem/account-kit'
import type { Deps } from './deps.ts'
import { personalData } from './personal-data.ts'
import { confirmErasure } from './erasures/actions.ts'
import { findReceiptMail } from './erasures/stub.ts'

/** The erasure of accounts in identity, which is the last of all services. */
export const createIdentityDepartures = ({ db, secrets, mailer }: Pick<Deps, 'db' | 'secrets' | 'mailer'>) =>
  createDepartures({
    service: 'identity',
    db,
    personalData,
    forget: async (accountId) => await mailer.enqueue([await findReceiptMail(db, accountId)]),
    report: async (trx, erased) => await confirmErasure(trx, secrets, 'identity', erased)
  })
