import t from 'tap'
import { dayAround, dayIn, parseTimezone, readTimezone, startOfDay } from './timezones.ts'

const at = new Date('2026-11-20T18:00:00Z')
/** What Intl takes for time zones and Temporal does not. */
const onlyIntl = ['IST', 'BST', 'JST', 'ACT', 'AET', 'MIT', 'SystemV/PST8']

t.test('a time zone is accepted in any case, and stored as IANA spells it', async (t) => {
  const cases = [
    ['Asia/Jakarta', 'Asia/Jakarta'],
    ['asia/jakarta', 'Asia/Jakarta'],
    ['AMERICA/NEW_YORK', 'America/New_York'],
    ['utc', 'UTC'],
    ['CET', 'CET'],
    ['Etc/GMT+5', 'Etc/GMT+5'],
    ['GMT+07:00', 'Etc/GMT-7'],
    ['GMT-3', 'Etc/GMT+3'],
    ['UTC+0900', 'Etc/GMT-9'],
    ['GMT+00:00', 'UTC'],
    ['gmt+10', 'Etc/GMT-10'],
    ['GMT+05:30', 'Asia/Kolkata'],
    ['UTC+0545', 'Asia/Kathmandu'],
    ['GMT-9:30', 'Pacific/Marquesas']
  ] as const
  for (const [sent, stored] of cases) t.equal(parseTimezone(sent), stored, sent)
  for (const name of Intl.supportedValuesOf('timeZone')) t.equal(parseTimezone(name), name, name)
})

t.test('what cannot be calculated with is refused, also if Intl knows it', async (t) => {
  const none = [
    '',
    'GMT-03:30',
    'GMT+15:00',
    'Mars/Olympus',
    '+07:00',
    '-03',
    'Z',
    '2026-01-01T00:00[Asia/Jakarta]',
    'Asia/Jakarta\0',
    'Factory'
  ]
  for (const name of [...onlyIntl, ...none]) t.throws(() => parseTimezone(name), { code: 'VALIDATION_ERROR' }, name)
})

t.test('a stored time zone that cannot be read is UTC, and a readable one is itself', async (t) => {
  for (const name of [...onlyIntl, '', 'Mars/Olympus']) {
    t.equal(readTimezone(name), 'UTC', name)
    t.equal(dayIn(name, at).toString(), '2026-11-20')
    t.equal(startOfDay(name, dayIn(name, at)).toISOString(), '2026-11-20T00:00:00.000Z')
  }
  t.equal(dayIn('asia/jakarta', at).toString(), '2026-11-21')
  t.equal(dayIn('+05:30', at).toString(), '2026-11-20')
  t.equal(dayIn('+06:00', at).toString(), '2026-11-21')
  t.same(dayAround('Europe/Berlin', new Date('2026-03-29T10:00:00Z')), {
    startsAt: new Date('2026-03-28T23:00:00Z'),
    endsAt: new Date('2026-03-29T22:00:00Z')
  }, '23 hours, when the clocks go forward')
  t.equal(startOfDay('Asia/Jakarta', dayIn('Asia/Jakarta', at)).toISOString(), '2026-11-20T17:00:00.000Z')
})
