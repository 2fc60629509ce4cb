import type { ImportFormat } from '../../tables.ts'

/** The format of a file by how it begins; of a ZIP, by what it names. */
export function detectFormat (file: Buffer): ImportFormat {
  const head = file.subarray(0, 4_096).toString('latin1')
  if (head.startsWith('PK')) return file.includes('dashboard/logs.json') ? 'TANDEM' : 'APPLE_HEALTH'
  if (head.slice(8, 12) === '.FIT') return 'FIT'
  if (/<HealthData|<!DOCTYPE HealthData/.test(head)) return 'APPLE_HEALTH'
  if (/<gpx[\s>]/i.test(head)) return 'GPX'
  if (/<TrainingCenterDatabase/.test(head)) return 'TCX'
  return /^\s*\[/.test(head) ? 'TANDEM' : 'CSV'
}
