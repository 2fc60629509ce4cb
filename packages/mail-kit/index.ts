export { renderMail, type MailKind } from './template.ts'
export { plainName, plainQuote, plainText } from './plain.ts'
export { createMailer, type Mailer, type MailerOptions, type MailOutcome } from './mailer.ts'
export { checkMailBacklog } from './backlog.ts'
export {
  createMail,
  listMailsOf,
  withdrawCollapsed,
  withdrawMails,
  type MailContent,
  type Mail,
  type MailTables
} from './mails.ts'
