// A mailer process that a test kills while the SMTP server has the mail but has not confirmed it.
import { connect } from '@tandem/database-kit'
import { createMailer, type MailTables } from './index.ts'

const [databaseUrl = '', smtpUrl = '', redisUrl = ''] = process.argv.slice(2)
const db = connect<MailTables>(databaseUrl, { log: console, timeoutFactor: 10 })
createMailer({ db, service: 'identity', smtpUrl, redisUrl, from: 'Tandem <hello@tandem.test>', log: console }).start()
