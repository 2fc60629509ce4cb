import t from 'tap'
import { findMisfits, type Version } from './neighbours.ts'

const text = { types: ['string'] }
const part = (fields: object = {}) => ({ fields: { '': { types: ['object'] }, id: text, ...fields }, sample: '' })
const event = (fields?: object) => ({ data: part(fields) })
const rpc = (request?: object, response?: object) => ({ request: part(request), response: part(response) })

const LIKED = 'social.post.liked.v1'
const PEOPLE = 'profile.people.v1'

function version (name: string, changed: Partial<Version> = {}): Version {
  return {
    name,
    version: '1.0.0',
    consumes: [],
    calls: [],
    provides: [],
    published: { [LIKED]: event(), [PEOPLE]: rpc() },
    paths: [],
    ...changed
  }
}
const social = (changed: Partial<Version> = {}) => version('social', { calls: [PEOPLE], ...changed })
const profile = (changed: Partial<Version> = {}) => version('profile', { provides: [PEOPLE], ...changed })
const notification = (changed: Partial<Version> = {}) => version('notification', { consumes: [LIKED], ...changed })

const cases: [what: string, versions: Version[], changed: string, problems: RegExp[], remarks?: RegExp[]][] = [
  ['versions that know the same messages', [social(), profile(), notification()], 'social', []],
  ['an event that is gone', [social({ published: { [PEOPLE]: rpc() } }), profile(), notification()], 'social', [
    /^notification 1\.0\.0 consumes social\.post\.liked\.v1, which social 1\.0\.0 does not publish/
  ]],
  [
    'an event that its service does not publish yet',
    [social({ published: { [PEOPLE]: rpc() } }), profile(), notification()],
    'notification',
    [],
    [/Nothing arrives until social is released/]
  ],
  [
    'an event with another type of a field',
    [
      social({ published: { [LIKED]: event({ id: { types: ['integer'] } }), [PEOPLE]: rpc() } }),
      profile(),
      notification()
    ],
    'social',
    [/^Event social\.post\.liked\.v1 of social 1\.0\.0, as notification 1\.0\.0 reads it: "id" no longer accepts integer\.$/]
  ],
  [
    'an event with a new field, which the other drops',
    [social({ published: { [LIKED]: event({ at: text }), [PEOPLE]: rpc() } }), profile(), notification()],
    'social',
    []
  ],
  [
    'a consumer that needs a field which its neighbour does not send yet',
    [social(), profile(), notification({ published: { [LIKED]: event({ at: text }) } })],
    'notification',
    [/the field "at" is new and required/]
  ],
  [
    'a consumer that reads a field which its neighbour may leave out',
    [social(), profile(), notification({ published: { [LIKED]: event({ at: { ...text, optional: true } }) } })],
    'notification',
    []
  ],
  ['a call that nobody provides yet', [social(), profile({ provides: [] })], 'social', [
    /^social 1\.0\.0 calls profile\.people\.v1, which profile 1\.0\.0 does not provide: release profile first\.$/
  ]],
  ['a call that is no longer provided', [social(), profile({ provides: [] })], 'profile', [/does not provide/]],
  [
    'a request that lacks what the provider needs',
    [social(), profile({ published: { [PEOPLE]: rpc({ locale: text }) } })],
    'profile',
    [/^The request of profile\.people\.v1 from social 1\.0\.0 to profile 1\.0\.0: the field "locale" is new and required/]
  ],
  [
    'a response that lacks what the caller needs',
    [social({ published: { [PEOPLE]: rpc({}, { name: text }) } }), profile()],
    'social',
    [/^The response of profile\.people\.v1 from profile 1\.0\.0 to social 1\.0\.0: the field "name" is new/]
  ],
  [
    'a path that the gateway does not know yet',
    [
      social({ paths: ['/feed', '/feed/{id}', '/bookmarks'] }),
      profile(),
      version('gateway', { prefixes: { social: ['/feed'] } })
    ],
    'social',
    [/^gateway 1\.0\.0 does not send \/bookmarks to social: release the gateway first\.$/]
  ],
  [
    'neighbours that do not fit each other, and are not released',
    [social(), profile({ provides: [] })],
    'notification',
    []
  ]
]

for (const [what, versions, changed, problems, remarks = []] of cases) {
  t.test(what, (t) => {
    const found = findMisfits(versions, [changed])
    t.equal(found.problems.length, problems.length)
    t.match(found.problems, problems)
    t.equal(found.remarks.length, remarks.length)
    t.match(found.remarks, remarks)
    t.end()
  })
}
