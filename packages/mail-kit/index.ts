export { renderMail, type MailTemplate } from './template.ts'
export { createMailer, type Mailer, type MailerOptions } from './mailer.ts'
export { checkMailBacklog } from './backlog.ts'
export { createMail, listMailsOf, type MailContent, type Mail, type MailTables } from './mails.ts'
