export { frame, type Frame } from './frame.ts'
export { createMailer, type Mailer, type MailerOptions } from './mailer.ts'
export { eraseMails, queueMail, type Letter, type Mail, type MailTables } from './mails.ts'
