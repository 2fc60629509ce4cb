// Kills processes while the system works: `npm run chaos`, or `npm run chaos -- reminders`, `erasure` or
// `decisions`.
import { decisions } from './decisions.ts'
import { registrations } from './registrations.ts'
import { erasure } from './erasure.ts'
import { reminders } from './reminders.ts'

const scenarios = { registrations, reminders, erasure, decisions }

const scenario = scenarios[(process.argv[2] ?? 'registrations') as keyof typeof scenarios]
if (!scenario) throw new Error(`choose one of ${Object.keys(scenarios).join(', ')}`)
if (!await scenario()) process.exitCode = 1
